package jobs

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

type forwardFlags struct {
	hostFlags
	ids    []string
	ports  backend.Ports
	open   bool
	output string
}

func (c *command) forward() *cobra.Command {
	f := &forwardFlags{}
	own := cli.NewSection("Flags")
	f.addTo(c, own)
	own.Flags.BoolVar(&f.open, "open", false, "Open the browser once the job answers.")
	own.FormatVar(&f.output, "Output `FORMAT`: json.", cli.JSON)
	return c.finish(&cobra.Command{
		Use:   "forward ID LOCAL[:REMOTE]",
		Short: "Forward a port of this machine to a running job",
		Long: "Forward a port of this machine to a running job, for example to TensorBoard, Jupyter or\n" +
			"a profiler. The program may listen on 127.0.0.1 only. LOCAL 0 is any free port.\n\n" +
			"This waits until the job runs, prints the address, and forwards until the job ends or\n" +
			"until Ctrl-C (exit code 130); the job keeps running then. If the job's pod is replaced,\n" +
			"the next connection leads to the new one.",
		Example: "  kubectl kinetic jobs forward cpu-train 6006 --open\n\n" +
			"  # port 80 of the second host, on any free port\n  kubectl kinetic jobs forward cpu-train 0:80 --host 1",
		Args: func(sub *cobra.Command, args []string) (err error) {
			if f.ids, f.ports, err = c.splitPorts(sub, args); err != nil {
				return err
			}
			return c.choice.OneID(sub, f.ids)
		},
		ValidArgsFunction: c.oneUnended,
		RunE:              runE(c, f.toOptions),
	}, own, c.choice.Section())
}

func (c *command) splitPorts(sub *cobra.Command, args []string) (ids []string, ports backend.Ports, err error) {
	if len(args) == 0 || len(args) == 1 && !c.choice.Any() {
		return nil, ports, cli.Usagef("%s takes a job and a port, as in %[1]s ID 6006; list jobs with kubectl kinetic jobs list", sub.CommandPath())
	}
	last := len(args) - 1
	ports, err = backend.ParsePorts(args[last])
	return args[:last], ports, cli.Usage(err)
}

type forwardOptions struct {
	*command
	hostFlags
	ids   []string
	ports backend.Ports
	open  bool
	json  bool
}

func (f *forwardFlags) toOptions(c *command, _ []string) (*forwardOptions, error) {
	return &forwardOptions{c, f.hostFlags, f.ids, f.ports, f.open, f.output == "json"}, nil
}

func (o *forwardOptions) run(ctx context.Context) error {
	j, err := o.choice.Job(ctx, o.ids)
	if err != nil {
		return err
	}
	number, err := o.of(j)
	if err != nil {
		return err
	}
	if j.Handle.Backend == api.BackendLocal {
		return o.here(ctx, j)
	}
	host, err := backend.HostOf(o.choice.Connection, j.Handle, number)
	if err != nil {
		return err
	}
	tunnel, err := backend.Listen(o.ports)
	if err != nil {
		return cli.Usage(err)
	}
	defer tunnel.Close()
	return o.forwardTo(ctx, j, host, tunnel)
}

func (o *forwardOptions) here(ctx context.Context, j *job.Job) error {
	if err := mustRun(ctx, j, portToForward); err != nil {
		return err
	}
	if err := o.printAddress(j, o.ports.Remote); err != nil {
		return err
	}
	o.ui().Note(backend.LocalPortNote(j.ID(), o.ports.Remote))
	if !o.open {
		return nil
	}
	return backend.OpenBrowser(ctx, o.ports.Remote)
}

const portToForward = "port to forward"

func (o *forwardOptions) ui() *ui.UI { return ui.New(o.streams.ErrOut, o.clock.Now) }

// forwardTo forwards connections to a job in the cluster until it ends.
func (o *forwardOptions) forwardTo(ctx context.Context, j *job.Job, host *backend.Host, tunnel *backend.Tunnel) error {
	said := o.ui()
	told := o.tellWaiting(j)
	began := false
	status, err := whileRunning(ctx, j, told, func(ctx context.Context) error {
		began = true
		if err := o.printAddress(j, tunnel.Local); err != nil {
			return err
		}
		said.Note(fmt.Sprintf("forwarding http://%s to port %d of job %s until it ends; Ctrl-C ends only the forwarding", tunnel.Address(), tunnel.Remote, j.ID()))
		if o.open {
			go func() {
				if err := backend.OpenBrowser(ctx, tunnel.Local); err != nil && ctx.Err() == nil {
					said.Warn(err.Error())
				}
			}()
		}
		return tunnel.Serve(ctx, host, said.Note)
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted)
	case err != nil:
		return report.Interrupted(o.streams.ErrOut, j, status.State, err)
	case !began:
		if known, err := j.Status(ctx); err == nil { // with its sentence
			status = known
		}
		return ended(j, status, portToForward)
	case status.State == api.Succeeded:
		said.Note(fmt.Sprintf("job %s ended %s", j.ID(), status.Word()))
	}
	return report.Settle(ctx, o.streams.ErrOut, j, report.End{Status: status})
}

type forwardedAddress struct {
	ID string `json:"id"`
	address
	URL string `json:"url"`
}

func (o *forwardOptions) printAddress(j *job.Job, port int) error {
	at := fmt.Sprintf("127.0.0.1:%d", port)
	if o.json {
		return cli.Write(o.streams.Out, cli.JSON, forwardedAddress{j.ID(), address{"127.0.0.1", port}, "http://" + at})
	}
	_, err := fmt.Fprintln(o.streams.Out, at)
	return err
}

// whileRunning calls do once a job runs, until it ends, and seen with each status. It returns the status in which the job
// ended, or the error of do, which ends the waiting.
func whileRunning(ctx context.Context, j *job.Job, seen func(api.Status), do func(context.Context) error) (api.Status, error) {
	waiting, cancel := context.WithCancelCause(ctx)
	var begin sync.Once
	var over sync.WaitGroup
	status, err := j.Wait(waiting, func(s api.Status) {
		seen(s)
		if s.State != api.Running {
			return
		}
		begin.Do(func() {
			over.Go(func() {
				if err := do(waiting); err != nil {
					cancel(err)
				}
			})
		})
	})
	cause := context.Cause(waiting)
	cancel(nil)
	over.Wait()
	if err != nil && ctx.Err() == nil && cause != nil {
		err = cause
	}
	return status, err
}
