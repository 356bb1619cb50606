package gcptest

import (
	"fmt"
	"net/http"

	"google.golang.org/api/container/v1"
)

// Lag is something that a service doesn't know at once.
type Lag string

// The lags.
const (
	HiddenAccount    Lag = "reading a new account"
	UnknownMember    Lag = "a new account in a policy"
	UncheckedAccount Lag = "a new account for nodes"
	UnusableAccount  Lag = "the right to act as a new account"
	NewAPI           Lag = "an API that was enabled"
	NewConsumer      Lag = "the agent of GKE in a project"
	NewIdentityPool  Lag = "the pool of identities of a first cluster"
)

// Lags lists all of them.
func Lags() []Lag {
	return []Lag{HiddenAccount, UnknownMember, UncheckedAccount, UnusableAccount, NewAPI, NewConsumer, NewIdentityPool}
}

// lagState is what is new, and how often it was refused. The zero value refuses nothing.
type lagState struct {
	times  map[Lag]int
	served map[string]int
	made   map[string]bool
}

// SetLag has services refuse each new thing as many times as that.
func (s *Server) SetLag(times int, kinds ...Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lags := &s.cloud.lags
	if lags.times == nil {
		lags.times, lags.served = map[Lag]int{}, map[string]int{}
	}
	for _, kind := range kinds {
		lags.times[kind] = times
	}
}

// Made says that a thing is new: an account by its address, an API by API, a pool of identities by its name.
func (s *lagState) Made(thing string) {
	if s.made == nil {
		s.made = map[string]bool{}
	}
	s.made[thing] = true
}

func enabledAPI(project, name string) string { return project + "/" + name }

// Refuses reports whether a new thing is refused once more for some use of it.
func (s *lagState) Refuses(kind Lag, thing, use string) bool {
	key := fmt.Sprintf("%s: %s for %s", kind, thing, use)
	if !s.made[thing] || s.served[key] >= s.times[kind] {
		return false
	}
	s.served[key]++
	return true
}

// checkNodes refuses node pools while GKE doesn't know their account yet, or in a project that its own agent isn't in.
func (s *Server) checkNodes(project string, pools []*container.NodePool) error {
	lags := &s.cloud.lags
	if lags.Refuses(NewConsumer, enabledAPI(project, "container.googleapis.com"), "its agent") {
		return badRequest("Failed precondition when calling the ServiceConsumerManager: tenantmanager::185014: "+
			"Consumer %d should enable service:container.googleapis.com before generating a service account.", s.projects[project].Number)
	}
	for _, p := range pools {
		if p.Config == nil {
			continue
		}
		account := p.Config.ServiceAccount
		if lags.Refuses(UncheckedAccount, account, p.Name) {
			return badRequest("Failed precondition: failed to check status for %q; Verify if principal exists and is valid.", account)
		}
		if lags.Refuses(UnusableAccount, account, p.Name) {
			return &Error{Code: http.StatusForbidden,
				Message: fmt.Sprintf("The user does not have access to service account %q. Ask a project owner to grant you the iam.serviceAccountUser role on the service account.", account)}
		}
	}
	return nil
}
