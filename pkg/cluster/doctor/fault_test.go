package doctor

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/rest"
)

// faulty answers requests for another server, "GET /version", as fail says: with a status, or not at all if that
// is negative; 0 is the other server's answer.
type faulty struct {
	fail func(line string, times int) (status int)

	mu   sync.Mutex
	made map[string]int
}

const lost = -1

func (f *faulty) wrap(config *rest.Config) *rest.Config {
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			line := r.Method + " " + r.URL.Path
			f.mu.Lock()
			f.made[line]++
			status := f.fail(line, f.made[line])
			f.mu.Unlock()
			switch {
			case status == lost:
				return nil, http.ErrServerClosed
			case status == http.StatusForbidden:
				return reply(status, forbidden("use", "it")), nil
			case status > 0:
				return reply(status, refusal(status, "InternalError", "etcd is broken")), nil
			}
			return base.RoundTrip(r)
		})
	})
	return Repeating(config)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, text string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: readCloser{strings.NewReader(text)}}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// checked returns what the checks find in a cluster whose rights can't be listed, and with a queue in Kueue, so
// that all requests are made.
func (f *faulty) checked(t *testing.T) []Result {
	t.Helper()
	s := &server{answers: complete(t)}
	maps.Copy(s.answers, map[string]string{rules: `{"status":{"incomplete":true}}`, "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews": `{"status":{"allowed":true}}`,
		"GET " + kq: group, "GET " + kq + "/v1/namespaces/ml/localqueues": `{"items":[{"metadata":{"name":"team"}}]}`})
	f.made = map[string]int{}
	o := clusterOptions(f.wrap(s.start(t)))
	o.Queue = "team"
	return Run(t.Context(), slowly(ClusterChecks(o)))
}

func never(string, int) int { return 0 }

func differs(a, b Finding) bool {
	return !cmp.Equal(a, b, cmpopts.IgnoreFields(Finding{}, "Repair"), cmpopts.IgnoreUnexported(Finding{}))
}

func TestEachRequestFailsOnce(t *testing.T) {
	whole := &faulty{fail: never}
	want := whole.checked(t)
	for name, status := range map[string]int{"too many requests": http.StatusTooManyRequests, "unavailable": http.StatusServiceUnavailable, "lost": lost} {
		t.Run(name, func(t *testing.T) {
			f := &faulty{fail: func(_ string, times int) int {
				if times == 1 {
					return status
				}
				return 0
			}}
			for i, r := range f.checked(t) {
				if differs(r.Finding, want[i].Finding) {
					t.Errorf("%s is %s: %s", r.Name, r.State, r.Detail)
				}
			}
			if got, all := slices.Sorted(maps.Keys(f.made)), slices.Sorted(maps.Keys(whole.made)); !slices.Equal(got, all) {
				t.Errorf("requested %q, want %q", got, all)
			}
			for line, times := range f.made {
				if times < 2 {
					t.Errorf("%s was not made again", line)
				}
			}
		})
	}
}

// The check of a request that always fails says how, and the others don't notice.
func TestEachRequestFails(t *testing.T) {
	whole := &faulty{fail: never}
	want := whole.checked(t)
	// optional are requests for what many users may not read, or for no more than a version.
	optional := func(line string, status int) bool {
		return strings.Contains(line, "/deployments/") || status == http.StatusForbidden && (strings.HasSuffix(line, "/leaderworkersets") || strings.HasSuffix(line, "/events"))
	}
	for status, texts := range map[int][]string{http.StatusInternalServerError: {"etcd is broken"}, http.StatusForbidden: {"you ", "no permission"}} {
		for failing := range whole.made {
			f := &faulty{fail: func(line string, _ int) int {
				if line == failing {
					return status
				}
				return 0
			}}
			told := 0
			for i, r := range f.checked(t) {
				switch {
				case !differs(r.Finding, want[i].Finding), r.Missing() != "":
				case slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(r.Detail, text) }) && (r.State == Wrong || status == http.StatusForbidden):
					told++
				case !optional(failing, status):
					t.Errorf("%s with %d: %s is %s: %s", failing, status, r.Name, r.State, r.Detail)
				}
			}
			if told == 0 && !optional(failing, status) {
				t.Errorf("%s with %d: no check says it", failing, status)
			}
		}
	}
}
