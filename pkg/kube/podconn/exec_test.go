package podconn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

var worker = podconn.Container{Namespace: "research", Pod: "train-x", Name: "worker"}

// execCluster is an API server with one container, which speaks SPDY only. Its only program repeats its input, complains, and
// ends with an exit code.
type execCluster struct {
	code    int
	hangs   func() // is called instead of an end of the streams
	queries []string
}

func (c *execCluster) start(t *testing.T) *rest.Config {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// ServeHTTP implements http.Handler.
func (c *execCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/api/v1/namespaces/research/pods/train-x/exec" {
		http.Error(w, "no WebSockets here", http.StatusBadRequest)
		return
	}
	c.queries = append(c.queries, r.URL.RawQuery)
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 5)
	way := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		streams <- s
		return nil
	})
	if way == nil {
		return
	}
	defer way.Close()
	by := map[string]httpstream.Stream{}
	for range 4 { // with a terminal its sizes, otherwise standard error
		s := <-streams
		by[s.Headers().Get(corev1.StreamType)] = s
	}
	if c.hangs != nil {
		c.hangs()
		<-way.CloseChan()
		return
	}
	if sizes := by[corev1.StreamTypeResize]; sizes != nil {
		var size struct{ Width, Height int }
		_ = json.NewDecoder(sizes).Decode(&size)
		fmt.Fprintf(by[corev1.StreamTypeStdout], "%d columns, ", size.Width)
	} else {
		fmt.Fprint(by[corev1.StreamTypeStderr], "a complaint")
		_ = by[corev1.StreamTypeStderr].Close()
	}
	_, _ = io.Copy(by[corev1.StreamTypeStdout], by[corev1.StreamTypeStdin])
	_ = by[corev1.StreamTypeStdout].Close()
	status := metav1.Status{Status: metav1.StatusSuccess}
	if c.code != 0 {
		status = metav1.Status{Status: metav1.StatusFailure, Reason: "NonZeroExitCode", Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Type: "ExitCode", Message: fmt.Sprint(c.code)}}}}
	}
	_ = json.NewEncoder(by[corev1.StreamTypeError]).Encode(status)
	_ = by[corev1.StreamTypeError].Close()
	<-way.CloseChan()
}

// sizes are those of a terminal that keeps its size.
type sizes []remotecommand.TerminalSize

func (s *sizes) Next() *remotecommand.TerminalSize {
	if len(*s) == 0 {
		return nil
	}
	first := (*s)[0]
	*s = (*s)[1:]
	return &first
}

func TestRun(t *testing.T) {
	const all = "\x00\r\n\xff"
	for name, tt := range map[string]struct {
		code     int
		terminal bool
		out, err string
	}{
		"it succeeds":   {0, false, all, "a complaint"},
		"it fails":      {3, false, all, "a complaint"},
		"in a terminal": {130, true, "80 columns, " + all, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &execCluster{code: tt.code}
			var out, errOut bytes.Buffer
			streams := podconn.Streams{In: strings.NewReader(all), Out: &out, ErrOut: &errOut}
			if tt.terminal {
				streams.Sizes = &sizes{{Width: 80, Height: 24}}
			}
			code, err := podconn.Exec(t.Context(), c.start(t), worker, []string{"cat", "a b", "&"}, streams)
			if code != tt.code || err != nil || out.String() != tt.out || errOut.String() != tt.err {
				t.Errorf("got %d, %v, %q and %q", code, err, out.String(), errOut.String())
			}
			want := fmt.Sprintf("command=cat&command=a+b&command=%%26&container=worker&stderr=%v&stdin=true&stdout=true&tty=%v", !tt.terminal, tt.terminal)
			if !slices.Equal(c.queries, []string{want}) {
				t.Errorf("asked for %q, want %q", c.queries, want)
			}
		})
	}
}

// What the API server says of a refusal is kept for who explains it.
func TestExecForbidden(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"user cannot create","code":403}`)
	}))
	defer server.Close()
	streams := podconn.Streams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
	if _, err := podconn.Exec(t.Context(), &rest.Config{Host: server.URL}, worker, []string{"true"}, streams); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

func TestStreamsThatNeverEndAreGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	reader, writer := io.Pipe()
	defer writer.Close()
	streams := podconn.Streams{In: reader, Out: io.Discard, ErrOut: io.Discard}
	if _, err := podconn.Exec(ctx, (&execCluster{hangs: func() { cancel(gone) }}).start(t), worker, []string{"cat"}, streams); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
