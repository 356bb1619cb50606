package gcptest

import (
	"fmt"
	"net/http"

	"google.golang.org/api/container/v1"
)

// Lag is something that services refuse for a while after an account was made or an API enabled, in the
// words of the real ones. It needs no list of faults: only what requests make is new.
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

// lags are how often each new thing is still refused.
type lags struct {
	times  map[Lag]int
	served map[string]int // by lag and thing
	made   map[string]bool
}

func newLags() lags {
	return lags{times: map[Lag]int{}, served: map[string]int{}, made: map[string]bool{}}
}

// SetLag has services refuse each new thing as many times as that.
func (s *Server) SetLag(times int, kinds ...Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		s.cloud.lags.times[kind] = times
	}
}

// refuses reports whether a thing is refused once more. for what says with which use of it.
func (l *lags) refuses(kind Lag, thing, use string) bool {
	key := fmt.Sprintf("%s: %s for %s", kind, thing, use)
	if !l.made[thing] || l.served[key] >= l.times[kind] {
		return false
	}
	l.served[key]++
	return true
}

// checkNodes refuses node pools whose account GKE doesn't know yet, or whose project GKE's own agent.
func (s *Server) checkNodes(project string, pools []*container.NodePool) error {
	l := &s.cloud.lags
	if l.refuses(NewConsumer, project+"/container.googleapis.com", "its agent") {
		return badRequest("Failed precondition when calling the ServiceConsumerManager: tenantmanager::185014: Consumer %d should enable service:container.googleapis.com before generating a service account.", s.projects[project].Number)
	}
	for _, p := range pools {
		if p.Config == nil {
			continue
		}
		account := p.Config.ServiceAccount
		if l.refuses(UncheckedAccount, account, p.Name) {
			return badRequest("Failed precondition: failed to check status for %q; Verify if principal exists and is valid.", account)
		}
		if l.refuses(UnusableAccount, account, p.Name) {
			return &Error{Code: http.StatusForbidden, Message: fmt.Sprintf("The user does not have access to service account %q. Ask a project owner to grant you the iam.serviceAccountUser role on the service account.", account)}
		}
	}
	return nil
}
