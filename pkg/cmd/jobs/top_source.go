package jobs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/top"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

// topSource answers what top asks about jobs.
type topSource struct {
	registry job.Registry
	// cluster is nil for local jobs, machine for all others.
	cluster *kube.Cluster
	machine *local.Machine

	// noMetrics is why the metrics API does not tell what pods use, noRight why pods can't be asked; nil if they answer, or
	// were not asked.
	noMetrics, noRight error
	answers            chan topAnswer
}

type topAnswer struct {
	top.Ask
	line string
	use  api.Use
	err  error
}

func newTopSource(c *command) (*topSource, error) {
	s := &topSource{answers: make(chan topAnswer, waitingAnswers)}
	if c.choice.Local {
		state, err := local.StateDir()
		if err != nil {
			return nil, err
		}
		s.machine = local.New(local.Config{StateDir: state})
		s.registry, err = c.choice.Registry()
		return s, err
	}
	var err error
	s.registry, s.cluster, err = backend.JobsRegistry(c.choice.Connection, c.choice.AllNamespaces)
	return s, err
}

// wants reports whether a question about a row makes sense.
func (s *topSource) wants(r top.Row, kind top.Kind) bool {
	switch {
	case s.cluster == nil:
		return true
	case r.Pod.State != api.Running:
		return false
	case kind == top.LastLine:
		return true
	}
	return s.noRight == nil && (s.noMetrics != nil || top.HasAccelerators(r.Entry))
}

// waitingAnswers is how many answers may wait while another program has the terminal: more than are asked within
// answerTime.
const waitingAnswers = 64

// answerTime is how long a question may take.
const answerTime = 10 * time.Second

// ask asks a question. Its answer comes later.
func (s *topSource) ask(ctx context.Context, q top.Ask) {
	go func() {
		limited, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		a := topAnswer{Ask: q}
		switch {
		case q.Kind == top.LastLine:
			a.line, a.err = s.lastLine(limited, q.Row)
		case s.cluster == nil:
			a.use, a.err = s.machine.Use(limited, q.ID)
		default:
			a.use, a.err = s.probe(limited, q.Row)
		}
		_ = send(ctx, s.answers, a)
	}()
}

func (s *topSource) lastLine(ctx context.Context, r top.Row) (string, error) {
	if host := r.Entry.Workload.WarmHost; host != nil {
		return s.lastLineOfCall(ctx, r, *host)
	}
	if s.cluster != nil {
		return s.cluster.LastLine(ctx, kube.PodName{Namespace: r.Namespace, Name: r.Pod.Pod})
	}
	var text bytes.Buffer
	err := s.registry.Backend.Logs(ctx, api.Handle{JobID: r.ID, Backend: s.registry.Kind}, nil, logs.Options{Tail: 1, Host: -1}, display.Streams{Out: &text, Err: &text})
	return logs.Shown(text.Bytes()), err
}

// lastLineOfCall asks a warm host: the log of its pod has no call's output.
func (s *topSource) lastLineOfCall(ctx context.Context, r top.Row, host api.Handle) (string, error) {
	host.Namespace = cmp.Or(host.Namespace, r.Namespace)
	found, err := s.cluster.WarmHost(ctx, host)
	if err != nil {
		return "", err
	}
	conn, err := backend.DialWarm(ctx, s.cluster, found, max(r.Host, 0))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return conn.LastLine(r.ID)
}

// probe asks a pod what its call uses.
func (s *topSource) probe(ctx context.Context, r top.Row) (api.Use, error) {
	var out bytes.Buffer
	host := backend.NewHost(s.cluster, api.Handle{JobID: r.ID, Namespace: r.Namespace}, r.Pod.Host)
	code, err := host.Run(ctx, kube.Pod{Name: r.Pod.Pod}, kube.ProbeArgv(r.Pod, top.HasAccelerators(r.Entry)),
		podconn.Streams{In: strings.NewReader(""), Out: &out, ErrOut: &bytes.Buffer{}})
	if err != nil {
		return api.Use{}, err
	}
	if code != 0 {
		return api.Use{}, fmt.Errorf("python3 in pod %s ended with exit code %d", r.Pod.Pod, code)
	}
	return kube.ReadProbe(out.Bytes())
}

// take puts an answer into the model. A pod that does not answer may be gone: it is asked again later.
func (s *topSource) take(m *top.Model, a topAnswer) {
	switch {
	case a.Kind == top.Usage && backend.LacksRight(a.err):
		s.noRight = a.err
		m.Notice = s.missing()
	case a.err != nil:
	case a.Kind == top.LastLine:
		m.SetLine(a.Place, a.line)
	default:
		m.SetUse(a.Place, a.use)
	}
}

type topUses struct {
	of  map[kube.PodName]api.Use
	err error
}

// uses asks the metrics API.
func (s *topSource) uses(ctx context.Context) topUses {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	of, err := s.cluster.Uses(ctx)
	return topUses{of, err}
}

// takeUses puts the answer of the metrics API into the model.
func (s *topSource) takeUses(m *top.Model, u topUses) {
	s.noMetrics = u.err
	if u.err == nil {
		m.SetUses(func(namespace, pod string) (api.Use, bool) {
			use, found := u.of[kube.PodName{Namespace: namespace, Name: pod}]
			return use, found
		})
	}
	if s.noRight != nil {
		m.Notice = s.missing()
	}
}

// missing returns a sentence about what can't be shown, and why.
func (s *topSource) missing() string {
	const fromPods = " from the pods requires the Role kinetic-shell"
	switch {
	case s.noRight == nil:
		return ""
	case s.noMetrics == nil:
		return "accelerator utilization is unknown: reading it" + fromPods
	case kube.LacksMetrics(s.noMetrics):
		return "CPU and memory are unknown: the cluster has no metrics API, and reading them" + fromPods
	}
	return "CPU and memory are unknown: you have no permission to list pods.metrics.k8s.io, and reading them" + fromPods
}
