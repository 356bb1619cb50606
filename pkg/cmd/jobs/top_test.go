package jobs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/top"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

// What is opened finds the job where top has found it.
func TestCommandsOfTop(t *testing.T) {
	ownOfTop := pflag.NewFlagSet("", pflag.ContinueOnError)
	ownOfTop.Bool("mine", false, "")
	ownOfTop.Bool("hosts", false, "")
	for name, tt := range map[string]struct {
		typed []string
		kind  api.Backend
		host  int
		want  string
	}{
		"a job":                 {nil, api.BackendGKE, top.WholeJob, "logs a-1 --namespace=ml"},
		"a host":                {nil, api.BackendGKE, 3, "logs a-1 --host=3 --namespace=ml"},
		"of another cluster":    {[]string{"--context", "dev", "-n", "other", "--mine", "--hosts"}, api.BackendGKE, top.WholeJob, "logs a-1 --context=dev --namespace=ml"},
		"a job of this machine": {[]string{"--local", "--store=file:///s"}, api.BackendLocal, top.WholeJob, "logs a-1 --local=true --store=file:///s"},
	} {
		root := NewCommand(genericiooptions.NewTestIOStreamsDiscard(), clock.RealClock{})
		sub, rest, err := root.Find(append([]string{"top"}, tt.typed...))
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.ParseFlags(rest); err != nil {
			t.Fatal(err)
		}
		o := &topOptions{source: &topSource{registry: job.Registry{Kind: tt.kind}}, typed: typedOutside(ownOfTop, sub.Flags())}
		row := top.Row{Place: top.Place{Key: top.Key{Namespace: "ml", ID: "a-1"}, Host: tt.host}}
		if got := strings.Join(o.child(row, "logs"), " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

func TestWhatIsMissing(t *testing.T) {
	down := errors.New("the connection broke")
	refused := &backend.RefusedError{Err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", down)}
	lost := &backend.RefusedError{Err: apierrors.NewInternalError(errors.New("error dialing backend"))}
	row := top.Row{Place: top.Place{Key: top.Key{Namespace: "ml", ID: "a-1"}, Host: top.WholeJob}}
	row.Pod.State, row.Entry.Accelerator = api.Running, "cpu"
	for name, tt := range map[string]struct {
		metrics, asked error
		notice         string
		asksAgain      bool
	}{
		"nothing":                        {nil, nil, "", false},
		"no metrics":                     {down, nil, "", true},
		"no metrics, and a pod is gone":  {down, down, "", true},
		"no metrics, and a node is lost": {down, lost, "", true},
		"neither":                        {down, refused, "CPU and memory are unknown: you have no permission to list pods.metrics.k8s.io, and reading them from the pods requires the Role kinetic-shell", false},
		"only metrics":                   {nil, refused, "accelerator utilization is unknown: reading it from the pods requires the Role kinetic-shell", false},
	} {
		s, m := &topSource{cluster: &kube.Cluster{}}, top.New(top.Model{})
		s.takeUses(m, topUses{err: tt.metrics})
		s.take(m, topAnswer{Ask: top.Ask{Row: row, Kind: top.LastLine}, err: refused}) // which is another right
		s.take(m, topAnswer{Ask: top.Ask{Row: row, Kind: top.Usage}, err: tt.asked})
		if m.Notice != tt.notice || s.wants(row, top.Usage) != tt.asksAgain || !s.wants(row, top.LastLine) {
			t.Errorf("%s: %q, asks again %v", name, m.Notice, s.wants(row, top.Usage))
		}
	}
}

// A slow reader gets the newest line.
func TestNotices(t *testing.T) {
	w := noticeWriter(make(chan string, 1))
	for _, line := range []string{"one", "two"} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if got := []string{<-w}; !slices.Equal(got, []string{"two"}) {
		t.Errorf("got %q", got)
	}
}
