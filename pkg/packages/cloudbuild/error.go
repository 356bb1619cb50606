package cloudbuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc/codes"

	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// ErrUnusable means that Cloud Build can't be used as the project, its bucket or the account
// are: trying again later doesn't help.
var ErrUnusable = errors.New("the build service can't be used")

// unusableError is an error in our words that is also an ErrUnusable.
type unusableError struct{ transport.Explained }

// Is implements what errors.Is looks for.
func (e *unusableError) Is(target error) bool { return target == ErrUnusable }

// need is what a request does, for messages, and the permission for it.
type need struct{ verb, permission string }

var (
	toCreate = need{"starting a build", "cloudbuild.builds.create"}
	toGet    = need{"following the build", "cloudbuild.builds.get"}
	toCancel = need{"cancelling the build", "cloudbuild.builds.update"}
)

// code returns the status of an answer of Cloud Build, OK if err is no answer.
func code(err error) codes.Code {
	var answer *apierror.APIError
	if !errors.As(err, &answer) || answer.GRPCStatus() == nil {
		return codes.OK
	}
	return answer.GRPCStatus().Code()
}

// temporary reports whether an error may pass.
func temporary(err error) bool {
	switch code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Internal, codes.Unknown:
		return true
	}
	return false
}

// explain says what was being done in which project, why it failed and what to do. Once ctx is
// over, that is the reason, whatever failed last.
func (c *Client) explain(ctx context.Context, n need, err error) error {
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf("%s in Cloud Build of project %s", n.verb, c.place.Project)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	if errors.Is(err, store.ErrUnusable) {
		return &unusableError{transport.Explained{Text: fmt.Sprintf("%s: %v", doing, err), Cause: err}}
	}
	var answer *apierror.APIError
	if !errors.As(err, &answer) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	why, lasting := c.reason(n, answer)
	explained := transport.Explained{Text: doing + ": " + why, Cause: err}
	if lasting {
		return &unusableError{explained}
	}
	return &explained
}

// adc is the project of gcloud's own client. It is charged for requests of users whose
// credentials name no other project, and has no API enabled.
const adc = "projects/764086051850"

// reason returns why a request failed and what to do, and whether that stays so.
func (c *Client) reason(n need, answer *apierror.APIError) (text string, lasting bool) {
	said := answer.GRPCStatus().Message()
	who := cmp.Or(c.User, "the account in use")
	charge := principal.ChargeTo(c.place.Project, os.Getenv)
	elsewhere := c.Charged != "" && c.Charged != c.place.Project
	switch why := answer.Reason(); why {
	case "SERVICE_DISABLED", "USER_PROJECT_DENIED":
		if elsewhere {
			return fmt.Sprintf("the credentials charge project %s, and not %s: %s; change that with: %s", c.Charged, c.place.Project, said, charge), true
		}
		if why == "USER_PROJECT_DENIED" {
			break
		}
		if answer.Metadata()["consumer"] == adc {
			return "the credentials have no quota project to charge; set one with: " + charge, true
		}
		api := cmp.Or(answer.Metadata()["service"], "cloudbuild.googleapis.com")
		return fmt.Sprintf("the API %s is not enabled in project %s; enable it with: gcloud services enable %s --project %s", api, c.place.Project, api, c.place.Project), true
	case "BILLING_DISABLED":
		return fmt.Sprintf("project %s has no billing account; link one with: gcloud billing projects link %s --billing-account=ACCOUNT", c.place.Project, c.place.Project), true
	}
	switch answer.GRPCStatus().Code() {
	case codes.Unauthenticated:
		_, advice := principal.Remedy(os.Getenv)
		return fmt.Sprintf("the credentials were refused: %s; %s", said, advice), true
	case codes.PermissionDenied:
		return c.denied(n, answer, who), true
	case codes.NotFound, codes.InvalidArgument:
		if strings.Contains(strings.ToLower(said), "service account") {
			return fmt.Sprintf("the service account of builds can't be used: %s; create %s with: gcloud iam service-accounts create %s --project=%s",
				said, c.place.Account, account(c.place.Account), c.place.Project), true
		}
		return "it refuses the request: " + said, true
	case codes.FailedPrecondition:
		return fmt.Sprintf("no build quota in %s: %s; request an increase", c.place.Region, said), true
	case codes.ResourceExhausted:
		return fmt.Sprintf("the quota is used up: %s; try again later", said), false
	case codes.Unavailable, codes.DeadlineExceeded:
		return fmt.Sprintf("it can't be reached: %s; check the network, and HTTPS_PROXY if there is a proxy", said), false
	}
	return fmt.Sprintf("it answered %s: %s", answer.GRPCStatus().Code(), said), false
}

// denied returns which permission is missing, whose, and how to grant it. For the account of
// builds there is one of its own, which the answer names in its text.
func (c *Client) denied(n need, answer *apierror.APIError, who string) string {
	said := answer.GRPCStatus().Message()
	permission := cmp.Or(answer.Metadata()["permission"], n.permission)
	if lower := strings.ToLower(said); permission == actAs || strings.Contains(lower, "actas") || strings.Contains(lower, "act as") {
		return fmt.Sprintf("%s needs the permission %s on the service account %s: %s; grant it with: gcloud iam service-accounts add-iam-policy-binding %s --project=%s --member=%s --role=roles/iam.serviceAccountUser",
			who, actAs, c.place.Account, said, c.place.Account, c.place.Project, principal.Member(c.User))
	}
	return fmt.Sprintf("%s needs the permission %s in project %s: %s; grant it with: gcloud projects add-iam-policy-binding %s --member=%s --role=roles/cloudbuild.builds.editor",
		who, permission, c.place.Project, said, c.place.Project, principal.Member(c.User))
}

const actAs = "iam.serviceAccounts.actAs"

func account(email string) string {
	id, _, _ := strings.Cut(email, "@")
	return id
}
