package google

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// waiting is what is said of the resources, as text.
type waiting struct {
	mu    sync.Mutex
	texts []string
}

func (w *waiting) tell(id infra.ID, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, id.String()+": "+text)
}

func (w *waiting) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

// said is what a run says while a service does not know something.
var said = map[gcptest.Lag]string{
	gcptest.HiddenAccount:    "service account kn-research-nodes: waiting until Google Cloud knows the service account",
	gcptest.UnknownMember:    "project roles of kn-research-nodes: waiting until Google Cloud knows the service account",
	gcptest.UncheckedAccount: "cluster research: waiting until Google Cloud knows the service account",
	gcptest.UnusableAccount:  "cluster research: waiting until Google Cloud knows the service account",
	gcptest.NewAPI:           "cluster research: waiting until Google Cloud knows that the API is enabled",
	gcptest.NewConsumer:      "cluster research: waiting until Google Cloud knows that the API is enabled",
	gcptest.NewIdentityPool:  "Workload Identity of kn-research-jobs: waiting until Google Cloud knows the pool of identities",
}

// The first run in a new project succeeds, however long services take to know what it has made.
func TestWhatIsNewIsWaitedFor(t *testing.T) {
	tests := map[string][]gcptest.Lag{"all together": gcptest.Lags()}
	for _, lag := range gcptest.Lags() {
		tests[string(lag)] = []gcptest.Lag{lag}
	}
	for name, kinds := range tests {
		t.Run(name, func(t *testing.T) {
			w, told := newWorld(t), &waiting{}
			w.project.Progress = told.tell
			w.SetLag(2, kinds...)
			if err := w.up(t.Context(), false, quiet); err != nil {
				t.Fatal(err)
			}
			w.complete(t)
			if kind := kinds[0]; len(kinds) == 1 && !strings.Contains(told.String(), said[kind]) {
				t.Errorf("%s: %q is missing in:\n%s", kind, said[kind], told)
			}
		})
	}
}

// A node pool is created with the account of the nodes, too.
func TestPoolOfANewAccount(t *testing.T) {
	w, told := newWorld(t), &waiting{}
	w.project.Progress = told.tell
	w.Fail(gcptest.Fault{Method: http.MethodPost, Path: "/nodePools$", Times: 2, Status: http.StatusBadRequest,
		Message: `Failed precondition: failed to check status for "` + nodesEmail + `"; Verify if principal exists and is valid.`})
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	w.complete(t)
	if !strings.Contains(told.String(), "node pool") {
		t.Errorf("it is not said of the node pool: %s", told)
	}
}

func TestPatienceEnds(t *testing.T) {
	for _, lag := range gcptest.Lags() {
		t.Run(string(lag), func(t *testing.T) {
			w := newWorld(t)
			w.project.Patience = time.Millisecond
			w.SetLag(math.MaxInt, lag)
			err := w.up(t.Context(), false, quiet)
			_, what, _ := strings.Cut(said[lag], "waiting until Google Cloud knows ")
			if err == nil || !strings.Contains(err.Error(), "after 1ms Google Cloud still does not know "+what+": repeat this command later") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPatienceCanBeInterrupted(t *testing.T) {
	for _, lag := range gcptest.Lags() {
		t.Run(string(lag), func(t *testing.T) {
			w := newWorld(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			w.project.Progress = func(_ infra.ID, text string) {
				if strings.HasPrefix(text, "waiting until ") {
					interrupt()
				}
			}
			w.SetLag(math.MaxInt, lag)
			if err := w.up(ctx, false, quiet); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "repeat this command later") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Of an account that was there before, the same words mean that a right is missing.
func TestARightThatIsMissingIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.Fail(gcptest.Fault{Method: http.MethodPost, Path: "/nodePools$", Status: http.StatusTeapot})
	if err := w.up(t.Context(), false, quiet); err == nil {
		t.Fatal("the pool was created")
	}
	const text = `The user does not have access to service account "` + nodesEmail + `". Ask a project owner to grant you the iam.serviceAccountUser role on the service account.`
	w.Fail(gcptest.Fault{Method: http.MethodPost, Path: "/nodePools$", Times: 1000, Status: http.StatusBadRequest, Message: text})
	w.ForgetCalls()
	if err := w.again(t).up(t.Context(), false, quiet); err == nil || !strings.Contains(err.Error(), "does not have access to service account") {
		t.Errorf("got %v", err)
	}
	tries := 0
	for _, change := range w.Changes() {
		if strings.HasSuffix(change, "/nodePools") {
			tries++
		}
	}
	if tries != 1 {
		t.Errorf("tried %d times", tries)
	}
}
