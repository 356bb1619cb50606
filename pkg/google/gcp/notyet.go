package gcp

import (
	"net/http"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// What services don't know at first.
const (
	newAccount  = "the service account"
	NewAPI      = "that the API is enabled"
	newIdentity = "the pool of identities"
)

// notYet are the answers of services that don't know yet what was made or enabled a moment ago. They pass:
// IAM tells other services of an account within minutes.
var notYet = []struct {
	codes []int
	text  string // a regular expression
	what  string
	// fresh means that another reason is likely, a right that is missing, unless the account was made a
	// moment ago.
	fresh bool
}{
	// Policies of all services.
	{codes: []int{http.StatusBadRequest}, text: `^Service account .*does not exist`, what: newAccount},
	// Clusters and node pools: terraform-google-kubernetes-engine#2002, wandb/terraform-google-dagster#18.
	{codes: []int{http.StatusBadRequest}, text: `failed to check status for .*Verify if principal exists|account cannot be found`, what: newAccount},
	{codes: []int{http.StatusBadRequest, http.StatusForbidden}, text: `does not have access to service account`, what: newAccount, fresh: true},
	// IAM itself: terraform-provider-google#15042, #15677.
	{codes: []int{http.StatusForbidden}, text: `iam\.serviceAccounts\.\w+.* denied on resource \(or it may not exist\)`, what: newAccount, fresh: true},
	{codes: []int{http.StatusNotFound}, text: `(?i)service ?account`, what: newAccount, fresh: true},
	// GKE, whose agent gets an account of its own when the API is enabled: jamesward/kubernetes-the-easy-way#1.
	{codes: []int{http.StatusBadRequest}, text: `ServiceConsumerManager`, what: NewAPI},
	// Bindings of Workload Identity, after the first cluster of a project.
	{codes: []int{http.StatusBadRequest}, text: `Identity Pool does not exist`, what: newIdentity},
}

// NotYet returns what a service doesn't know yet according to its answer, "the service account", and "" for
// other answers. fresh says that the account that the request needs was made a moment ago.
func NotYet(err error, fresh bool) string {
	answer, isAnswer := answerIn(err)
	if !isAnswer {
		return ""
	}
	for _, each := range notYet {
		if slices.Contains(each.codes, answer.Code) && (fresh || !each.fresh) && lazyregexp.Of(each.text).MatchString(MessageIn(err)) {
			return each.what
		}
	}
	return ""
}
