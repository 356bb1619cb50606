package run

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// starting returns a run that looks for a host, of which there is one whose container waits, what the user is told, and a function that
// changes the reason.
func starting(t *testing.T, reason string) (r *warmRun, host kube.WarmHost, told *bytes.Buffer, change func(string)) {
	t.Helper()
	const meta = `"metadata":{"name":"cpu-warm-1","namespace":"ml","uid":"u","resourceVersion":"1","labels":{"job-name":"cpu-warm-1","job-id":"cpu-warm-1"}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/jobs"):
			_, _ = io.WriteString(w, `{"kind":"JobList","apiVersion":"batch/v1","metadata":{"resourceVersion":"1"},"items":[{`+meta+`}]}`)
		case strings.HasSuffix(r.URL.Path, "/pods"):
			_, _ = fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{%[1]s,"spec":{"nodeName":"n","containers":[{"name":%[3]q,"image":"IMAGE"}]},
				"status":{"phase":"Pending","containerStatuses":[{"name":%[3]q,"image":"IMAGE","state":{"waiting":{"reason":%[2]q}}}]}}]}`, meta, reason, api.ContainerName)
		default:
			_, _ = io.WriteString(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
		}
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewClient(&rest.Config{Host: server.URL}, "ml", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	host = kube.WarmHost{Key: "here", Handle: api.Handle{JobID: "cpu-warm-1", Backend: api.BackendGKE, Namespace: "ml", K8sName: api.JobNamePrefix + "cpu-warm-1"}}
	host.ID = "cpu-warm-1"
	s := &warmSearch{stop: func() {}, tried: make(chan struct{}), at: now, list: func() ([]kube.WarmHost, error) { return []kube.WarmHost{host}, nil }}
	close(s.tried)
	told = &bytes.Buffer{}
	o := &options{clock: clocktesting.NewFakePassiveClock(now), ui: ui.New(told, time.Now)}
	r = &warmRun{options: o, search: s, place: submit.WarmPlace{Key: "here"}, to: destination{cluster: kube.New(client)}}
	return r, host, told, func(another string) { reason = another }
}

// Nobody waits for a host that can't start, and the reason is told.
func TestWarmWaitForAHostThatCannotStart(t *testing.T) {
	r, _, told, _ := starting(t, "InvalidImageName")
	r.planned.Spec.KeepWarm = api.KeepWarm{Wait: true, Only: true}
	found, err := r.find(t.Context(), nil)
	if want := `no warm host: cpu-warm-1 can't start: invalid image name "IMAGE"; omit --warm-only to start one`; err == nil || err.Error() != want || found.conn != nil {
		t.Errorf("got %v after %q, want %s", err, told, want)
	}
}

// Why a host waits is told when it changes.
func TestReasonOfAHostThatStarts(t *testing.T) {
	r, host, told, change := starting(t, "ContainerCreating")
	for _, reason := range []string{"ContainerCreating", "ErrImagePull", "ErrImagePull"} {
		change(reason)
		if !r.mayStart(t.Context(), host) {
			t.Errorf("%s: it can't start", reason)
		}
	}
	const want = "waiting for the warm host cpu-warm-1 to start"
	if lines := strings.Split(strings.TrimSpace(told.String()), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], want) || !strings.HasPrefix(lines[1], want+": ") {
		t.Errorf("told %q", lines)
	}
}
