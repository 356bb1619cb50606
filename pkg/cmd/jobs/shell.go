package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	mobyterm "github.com/moby/term"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubectl/pkg/util/interrupt"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

type shellFlags struct {
	hostFlags
	dash int // how many words come before --, -1 for no --
}

func (c *command) shell() *cobra.Command {
	f := &shellFlags{}
	own := cli.NewSection("Flags")
	f.addTo(c, own)
	return c.finish(&cobra.Command{
		Use:   "shell ID [-- COMMAND…]",
		Short: "Open a shell beside a running call, or run a command there",
		Long: "Open a shell beside a running call, or run a command there: in its container, in its\n" +
			"directory, with its environment and its Python.\n\n" +
			"On a terminal, the command gets a terminal. Otherwise its output is passed on\n" +
			"unchanged. The exit code is the command's.\n" +
			"In a cluster the shell ends with its container, when the call has ended.",
		Example: "  kubectl kinetic jobs shell cpu-train\n\n" +
			"  # what the second host does\n  kubectl kinetic jobs shell cpu-train --host 1 -- nvidia-smi\n\n" +
			"  # a file of the job, here\n  kubectl kinetic jobs shell cpu-train -- cat plot.png >plot.png",
		Args: func(sub *cobra.Command, args []string) error {
			f.dash = sub.ArgsLenAtDash()
			ids, _ := f.split(args)
			if f.dash < 0 && len(args) > 1 {
				return cli.Usagef("%s takes one job, got %s: write -- before a command, as in %[1]s %[3]s -- %[4]s", sub.CommandPath(), strings.Join(args, " "), args[0], args[1])
			}
			return c.choice.OneID(sub, ids)
		},
		ValidArgsFunction: c.oneUnended,
		RunE:              runE(c, f.toOptions),
	}, own, c.choice.Section())
}

func (f *shellFlags) split(args []string) (ids, command []string) {
	if f.dash < 0 {
		return args, nil
	}
	return args[:f.dash], args[f.dash:]
}

type shellOptions struct {
	*command
	hostFlags
	ids  []string
	argv []string // empty for a shell
}

func (f *shellFlags) toOptions(c *command, args []string) (*shellOptions, error) {
	ids, argv := f.split(args)
	return &shellOptions{c, f.hostFlags, ids, argv}, nil
}

func (o *shellOptions) run(ctx context.Context) error {
	j, err := o.choice.Job(ctx, o.ids)
	if err != nil {
		return err
	}
	number, err := o.of(j)
	if err != nil {
		return err
	}
	if err := mustRun(ctx, j, "call to open a shell beside"); err != nil {
		return err
	}
	if j.Handle.Backend == api.BackendLocal {
		return o.here(j)
	}
	host, err := backend.HostOf(o.choice.Connection, j.Handle, number)
	if err != nil {
		return err
	}
	pod, err := host.Pod(ctx)
	if errors.Is(err, backend.ErrNoPod) {
		follow := fmt.Sprintf("kubectl kinetic jobs describe %s%s", j.ID(), j.LocationFlags())
		return &cli.Error{Code: cli.ExitFailed, Next: follow, Err: fmt.Errorf("host %d of job %s has no running pod at the moment; see %s", number, j.ID(), follow)}
	}
	if err != nil {
		return err
	}
	return (&remoteShell{o, j, host, pod}).run(ctx)
}

// here becomes a shell beside a job of this machine.
func (o *shellOptions) here(j *job.Job) error {
	state, err := local.StateDir()
	if err != nil {
		return err
	}
	argv, err := local.New(local.Config{StateDir: state}).ShellCommand(j.ID(), o.argv)
	if err != nil {
		return fmt.Errorf("opening a shell beside local job %s: %w", j.ID(), err)
	}
	return platform.Become(argv)
}

// remoteShell is a shell, or another program, in a pod.
type remoteShell struct {
	*shellOptions
	job  *job.Job
	host *backend.Host
	pod  kube.Pod
}

// settleTime is how long the streams of a container that has ended may take to end, and how long it takes at most to
// notice that one has ended.
const settleTime = 2 * time.Second

func (s *remoteShell) run(ctx context.Context) error {
	streaming, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	gone := make(chan struct{})
	go func() {
		if s.host.WaitUntilGone(streaming, s.pod) == nil {
			close(gone)
			time.AfterFunc(settleTime, func() { cancel(errors.New("the container has ended")) })
		}
	}()
	code, err := s.stream(streaming)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, new(*backend.RefusedError)) {
		return err
	}
	const killed = 137
	if err != nil || code == killed {
		select {
		case <-gone:
			return s.endedWith(ctx, code)
		case <-time.After(settleTime):
		}
	}
	again := fmt.Sprintf("kubectl kinetic jobs shell %s%s", s.job.ID(), s.job.LocationFlags())
	switch {
	case err != nil:
		return &cli.Error{Code: cli.ExitFailed, Next: again, Err: fmt.Errorf("the connection to pod %s broke: %w; job %s is still running; open a new shell with %s", s.pod.Name, err, s.job.ID(), again)}
	case code != 0:
		return cli.Error{Code: code, Err: fmt.Errorf("command terminated with exit code %d", code)}.In(s.streams.ErrOut, fmt.Sprintf("command terminated with exit code %d", code))
	}
	return nil
}

func (s *remoteShell) endedWith(ctx context.Context, code int) error {
	if code == 0 {
		code = cli.ExitFailed
	}
	failed := &cli.Error{Code: code, Next: fmt.Sprintf("kubectl kinetic jobs shell %s%s", s.job.ID(), s.job.LocationFlags())}
	failed.Err = fmt.Errorf("the shell has ended with its container; if job %s starts again, open a new one with %s", s.job.ID(), failed.Next)
	status, err := s.job.Status(ctx)
	switch {
	case err != nil:
	case status.State.Ended():
		failed.Err, failed.Next = fmt.Errorf("the shell has ended with job %s, which %s", s.job.ID(), status.End), ""
	case status.State == api.Running && status.Message != "": // it is being cancelled, say
		failed.Err, failed.Next = fmt.Errorf("the shell has ended with its container; job %s is %s, %s", s.job.ID(), status.State, status.Message), ""
	}
	return failed
}

// stream runs the program. In a terminal it gets one.
func (s *remoteShell) stream(ctx context.Context) (int, error) {
	argv := append([]string{"python3", "-S", api.PodRunner, "shell", api.PodWork}, s.argv...)
	streams := podconn.Streams{In: s.streams.In, Out: s.streams.Out, ErrOut: s.streams.ErrOut}
	tty := term.TTY{In: s.streams.In, Out: s.streams.Out, Raw: true, Parent: interrupt.New(func(os.Signal) {})} // the context ends it
	if !tty.IsTerminalIn() || !tty.IsTerminalOut() {
		return s.host.Run(ctx, s.pod, argv, streams)
	}
	streams.In, streams.Out, _ = mobyterm.StdStreams() // on Windows they translate
	tty.In, tty.Out = streams.In, streams.Out
	sizes := tty.MonitorSize(tty.GetSize())
	streams.Sizes = queue{sizes}
	var code int
	err := tty.Safe(func() (err error) {
		code, err = s.host.Run(ctx, s.pod, argv, streams)
		return err
	})
	return code, err
}

type queue struct{ term.TerminalSizeQueue }

func (q queue) Next() *remotecommand.TerminalSize {
	size := q.TerminalSizeQueue.Next()
	return (*remotecommand.TerminalSize)(size)
}
