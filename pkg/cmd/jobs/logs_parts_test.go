package jobs

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// speaking is a backend in which the call and some parts of the Pathways runtime have printed something.
type speaking struct {
	jobtest.Backend
	parts map[string]string
}

func (s speaking) Logs(_ context.Context, _ api.Handle, _ *logs.Archive, _ logs.Options, to display.Streams) error {
	_, err := io.WriteString(to.Out, cmp.Or(s.parts["call"], "step 1\nstep 2\n"))
	return err
}

func (s speaking) PartLog(_ context.Context, _ api.Handle, part string, _ logs.Options, w io.Writer) error {
	if s.parts[part] == "" {
		return fs.ErrNotExist
	}
	_, err := io.WriteString(w, s.parts[part])
	return err
}

func TestLogsOfAllParts(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Handle: api.Handle{JobID: "p1", Hosts: 1, Pathways: &api.Pathways{TPUHosts: 2}}, Store: s,
		Backend: speaking{jobtest.Backend{State: api.Running}, map[string]string{"rm": "a\nb", "worker-1": "c\n"}}}
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	o := &logOptions{command: &command{streams: streams, clock: clocktesting.NewFakePassiveClock(api.Handle{}.CreatedAt)}, index: noIndex, parts: true}
	if err := o.printLog(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "host-0 │ step 1\nhost-0 │ step 2\nrm │ a\nrm │ b\nworker-1 │ c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, part := range []string{"proxy: ", "worker-0: "} {
		if !strings.Contains(errOut.String(), part) {
			t.Errorf("nothing is said of %s%q", part, errOut.String())
		}
	}
}

func TestLabelled(t *testing.T) {
	var b strings.Builder
	l := display.NewLines(labelled{&b, "rm"})
	for _, text := range []string{"", "a", "b\nc", "d\n\ne"} {
		if n, err := l.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	err := cmp.Or(l.Close(), l.Close())
	if got, want := b.String(), "rm │ ab\nrm │ cd\nrm │ \nrm │ e\n"; err != nil || got != want {
		t.Errorf("%v, got %q, want %q", err, got, want)
	}
}
