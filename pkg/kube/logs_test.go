package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// roundTrip is a function that answers requests.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// clientOver is a client whose requests a function answers.
func clientOver(t *testing.T, f roundTrip) *Client {
	t.Helper()
	c, err := NewClient(&rest.Config{Host: "http://api.example", QPS: -1, Transport: f}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answers is what a server says.
func answers(write func(http.ResponseWriter)) (*http.Response, error) {
	w := httptest.NewRecorder()
	write(w)
	return w.Result(), nil
}

// refuses is an answer that is a failure.
func refuses(code int, reason metav1.StatusReason) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		return answers(func(w http.ResponseWriter) { fail(w, code, reason) })
	}
}

// away is an API server that is being restarted.
func away() (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// torn is an answer that always breaks at the same place.
func torn() (*http.Response, error) {
	return answersBody(io.MultiReader(strings.NewReader(line(1, 0, "one")), brokenConnection{}))
}

// answersBody is an answer with a body of its own.
func answersBody(body io.Reader) (*http.Response, error) {
	r, err := answers(func(w http.ResponseWriter) {})
	r.Body = io.NopCloser(body)
	return r, err
}

// brokenConnection is a connection that breaks.
type brokenConnection struct{}

func (brokenConnection) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// manyRequests are more than anybody should make while he waits for some minutes.
const manyRequests = 1000

// A node may be gone, or may have lost the container, before the log was read to its
// end.
func TestTheLogOfAnEndedContainerThatCannotBeRead(t *testing.T) {
	one, two := line(1, 0, "one"), line(2, 0, "two")
	bad, broken := refuses(http.StatusBadRequest, metav1.StatusReasonBadRequest), refuses(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	const ever = time.Hour
	for name, tt := range map[string]struct {
		fail   func() (*http.Response, error)
		lasts  time.Duration
		store  bool
		want   string // of the log
		refuse string // why it can't be read
	}{
		"the node has lost the container":                  {bad, ever, true, one + "the rest", ""},
		"the node is gone":                                 {broken, ever, true, one + "the rest", ""},
		"the node answers again":                           {broken, 10 * time.Second, true, one + two, ""},
		"the API server is back":                           {away, 10 * time.Minute, true, one + two, ""},
		"the API server is not":                            {away, ever, true, one, "nothing listens"},
		"the answer always breaks":                         {torn, ever, true, one + "the rest", ""},
		"reading it is forbidden":                          {refuses(http.StatusForbidden, metav1.StatusReasonForbidden), ever, true, one, "Forbidden"},
		"the node has lost the container, and no store":    {bad, ever, false, one, ""},
		"the node is gone, and no store":                   {broken, ever, false, one, ""},
		"the API server is back, and nobody asks a store":  {away, 10 * time.Minute, false, one + two, ""},
		"the pod is gone, and no store has the rest of it": {refuses(http.StatusNotFound, metav1.StatusReasonNotFound), ever, false, one, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				b, asked := newBoard(nil, false), 0
				b.post(stands(member(0, 1, running(1))))
				var ended time.Time
				client := clientOver(t, func(r *http.Request) (*http.Response, error) {
					if asked++; asked > manyRequests {
						cancel()
					}
					switch {
					case r.URL.Query().Get("follow") != "":
						b.post(stands(member(0, 1, terminated(137, "Error", ""))))
						ended = time.Now()
						return answers(func(http.ResponseWriter) {})
					case !ended.IsZero() && time.Since(ended) < tt.lasts:
						return tt.fail()
					case !ended.IsZero():
						return answers(func(w http.ResponseWriter) { _, _ = io.WriteString(w, one+two) })
					}
					return answers(func(w http.ResponseWriter) { _, _ = io.WriteString(w, one) })
				})
				o := wholeLog
				o.Follow = true
				if tt.store {
					o.Rest = func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
						_, err := io.WriteString(w, "the rest")
						return p, err
					}
				}
				var out strings.Builder
				r := &reader{workload: New(client), id: "cpu-f", board: b}
				err := followPod(ctx, t.Context(), b, r.stream(member(0, 1, running(1)), o, &out))
				if (err == nil) != (tt.refuse == "") || err != nil && !strings.Contains(err.Error(), tt.refuse) {
					t.Errorf("got %v, want %q", err, tt.refuse)
				}
				if diff := cmp.Diff(stored(tt.want), out.String()); diff != "" {
					t.Errorf("after %d requests (-want +got)\n%s", asked, diff)
				}
			})
		})
	}
}

// A job goes on in another pod when a node has lost one.
func TestTheAttemptAfterOneWhoseLogIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := 0
		client := clientOver(t, func(r *http.Request) (*http.Response, error) {
			if asked++; asked > manyRequests {
				cancel()
			}
			if strings.Contains(r.URL.Path, "h0-1") {
				return refuses(http.StatusBadRequest, metav1.StatusReasonBadRequest)()
			}
			return answers(func(w http.ResponseWriter) {
				_, _ = io.WriteString(w, line(9, 0, "again")+line(9, 1, logs.EndLine("cpu-f")))
			})
		})
		o := logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: 1, Ended: func(context.Context) bool { return true }}
		o.Rest = func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
			_, err := io.WriteString(w, stored(line(1, 0, "of "+p.Pod)))
			return p, err
		}
		lost := terminated(137, "ContainerStatusUnknown", "")
		lost.Terminated.StartedAt, lost.Terminated.FinishedAt = metav1.Time{}, metav1.Time{}
		r := &reader{workload: New(client), id: "cpu-f", options: o, board: newBoard(nil, false)}
		r.board.post(stands(member(0, 1, lost), member(0, 5, running(6))))
		var out strings.Builder
		if err := r.all(ctx, screen.Both(&out), r.follow); err != nil && !errors.Is(err, errEnded) {
			t.Fatal(err)
		}
		if want := "of h0-1\nagain\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

// The last lines of a container that its node has lost are those of the store.
func TestTheLastLinesOfAContainerThatIsLost(t *testing.T) {
	for tail, want := range map[int]string{0: "", 2: "2 lines of h0-1"} {
		client := clientOver(t, func(*http.Request) (*http.Response, error) {
			return refuses(http.StatusBadRequest, metav1.StatusReasonBadRequest)()
		})
		o := logs.Options{Tail: tail, Rest: func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
			_, err := fmt.Fprintf(w, "%d lines of %s", p.Tail, p.Pod)
			return p, err
		}}
		r := &reader{workload: New(client), id: "cpu-f", board: newBoard(nil, false)}
		r.board.post(stands(member(0, 1, terminated(137, "Error", ""))))
		var out strings.Builder
		err := followPod(t.Context(), t.Context(), r.board, r.stream(member(0, 1, running(1)), o, &out))
		if err != nil || out.String() != want {
			t.Errorf("tail %d: got %q, %v; want %q", tail, out.String(), err, want)
		}
	}
}

// Who does not follow reads the same places, and waits for less.
func TestWhatAPodPrintedThatCannotBeReadAtOnce(t *testing.T) {
	log := line(1, 0, "one")
	gone := refuses(http.StatusNotFound, metav1.StatusReasonNotFound)
	for name, tt := range map[string]struct {
		fail   func() (*http.Response, error)
		fails  int // times
		store  bool
		want   string
		refuse string
	}{
		"its pod is gone":           {gone, 1, true, "stored\n", ""},
		"and so is the log":         {gone, 1, false, "", "NotFound"},
		"the node is slow":          {refuses(http.StatusInternalServerError, metav1.StatusReasonInternalError), 3, true, "one\n", ""},
		"the node is gone":          {refuses(http.StatusInternalServerError, metav1.StatusReasonInternalError), manyRequests, true, "stored\n", ""},
		"the connection breaks":     {torn, 3, true, "one\n", ""},
		"the API server comes back": {away, 3, true, "one\n", ""},
		"the API server stays away": {away, manyRequests, true, "stored\n", ""},
		"and there is no store":     {away, manyRequests, false, "", "nothing listens"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := -1
				client := clientOver(t, func(*http.Request) (*http.Response, error) {
					switch asked++; {
					case asked == 0: // the list of the pods
						return answers(func(http.ResponseWriter) {})
					case asked <= tt.fails:
						return tt.fail()
					}
					return answers(func(w http.ResponseWriter) { _, _ = io.WriteString(w, log) })
				})
				if err := client.core.Get().Do(t.Context()).Error(); err != nil {
					t.Fatal(err)
				}
				o := logs.Options{Tail: -1, Hosts: 1}
				if tt.store {
					o.Rest = func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
						_, err := io.WriteString(w, stored(line(1, 0, "stored")))
						return p, err
					}
				}
				r := &reader{workload: New(client), id: "cpu-f", options: o, board: newBoard(nil, false)}
				r.board.post(stands(member(0, 1, terminated(0, "", ""))))
				var out strings.Builder
				err := r.all(t.Context(), screen.Both(&out), r.printed)
				if (err == nil) != (tt.refuse == "") || err != nil && !strings.Contains(err.Error(), tt.refuse) {
					t.Errorf("got %v, want %q", err, tt.refuse)
				}
				if out.String() != tt.want {
					t.Errorf("after %d requests got %q, want %q", asked, out.String(), tt.want)
				}
			})
		})
	}
}
