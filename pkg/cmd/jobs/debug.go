package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

func (c *command) debug() *cobra.Command {
	var port uint16
	output := ""
	own := cli.NewSection("Flags")
	own.Flags.Uint16Var(&port, "port", uint16(api.Contract.Ports.Debug), "Local `PORT` for the debugger, 0 for any free one. For a local job: the port it listens on.")
	own.FormatVar(&output, "Output `FORMAT`: json.", cli.JSON)
	return c.finish(&cobra.Command{
		Use:   "debug ID",
		Short: "Connect a debugger on this machine to a job",
		Long: "Connect a debugger on this machine to a job submitted with `run --debug`.\n\n" +
			"Such a job waits for a debugger before its call begins, for ten minutes or\n" +
			"KINETIC_DEBUG_WAIT_TIMEOUT seconds, and stops there. This prints the address for the\n" +
			"debugger and an entry for VS Code's launch.json, and forwards connections until the\n" +
			"job ends or until Ctrl-C (exit code 130); the job keeps running then.",
		Example: "  kubectl kinetic run train.py:train --debug --detach --job-id cpu-train\n  kubectl kinetic jobs debug cpu-train",
		Args:    c.choice.OneID,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			c.debugJSON = output == "json"
			return c.connectDebugger(ctx, args, int(port))
		}),
	}, own, c.choice.Section())
}

func (c *command) connectDebugger(ctx context.Context, args []string, port int) error {
	j, err := c.choice.Job(ctx, args)
	if err != nil {
		return err
	}
	switch {
	case j.Handle.ByPythonTool():
		return cli.Usagef("job %s was submitted by keras-kinetic: debug it with that", j.ID())
	case !j.Handle.Debug:
		return cli.Usagef("job %s was not submitted with --debug: submit it again with kubectl kinetic run --debug", j.ID())
	case j.Handle.Backend == api.BackendLocal:
		return c.tellLocal(ctx, j, port)
	}
	return c.forwardTo(ctx, j, port)
}

// tellLocal prints the address of a job of this machine, to which nothing needs forwarding.
func (c *command) tellLocal(ctx context.Context, j *job.Job, port int) error {
	if err := mustRun(ctx, j, callToDebug); err != nil {
		return err
	}
	state, err := local.StateDir()
	if err != nil {
		return err
	}
	return c.printAddress(ctx, j, port, local.Workspace(state, j.ID()))
}

const callToDebug = "call to debug"

// forwardTo forwards connections to a job in the cluster until it ends.
func (c *command) forwardTo(ctx context.Context, j *job.Job, port int) error {
	session, err := c.newSession(j, port)
	if err != nil {
		return err
	}
	defer session.listener.Close()
	status, err := whileRunning(ctx, j, session.seen(), session.serve)
	switch {
	case err != nil:
		return report.Interrupted(c.streams.ErrOut, j, status.State, err)
	case status.State == api.Succeeded && !session.answered:
		return ended(j, status, callToDebug)
	}
	return report.Settle(ctx, c.streams.ErrOut, j, report.End{Status: status})
}

type session struct {
	*command
	job      *job.Job
	listener net.Listener
	ui       *ui.UI
	// dial connects to the debugger of the job.
	dial func(context.Context) (*podconn.Conn, error)
	// answered says that the debugger of the job was reached.
	answered bool
}

func (c *command) newSession(j *job.Job, port int) (*session, error) {
	host, err := backend.HostOf(c.choice.Connection, j.Handle, 0)
	if err != nil {
		return nil, err
	}
	listener, err := listen(port)
	if err != nil {
		return nil, cli.Usage(err)
	}
	dial := func(ctx context.Context) (*podconn.Conn, error) { return host.Dial(ctx, api.Contract.Ports.Debug) }
	return &session{command: c, job: j, listener: listener, ui: ui.New(c.streams.ErrOut, c.clock.Now), dial: dial}, nil
}

// listen opens the local port. It is called before anything is waited for.
func listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if platform.IsInUse(err) {
		return nil, fmt.Errorf("--port %d: already in use on this machine: choose another, or 0 for any free port", port)
	}
	if err != nil {
		return nil, fmt.Errorf("--port %d: %w", port, err)
	}
	return l, nil
}

func (s *session) seen() func(api.Status) {
	begun := false
	return func(status api.Status) {
		switch {
		case begun:
		case status.State == api.Pending:
			s.ui.State(s.job.ID(), status, strings.TrimSuffix("waiting for its pod: "+status.Message, ": "))
		case status.State == api.Running:
			s.ui.State(s.job.ID(), status, "waiting for its debugger to listen")
			begun = true
		}
	}
}

// lookEvery is how often a port is tried until something listens on it: nothing reports
// when that happens.
const lookEvery = 300 * time.Millisecond

// serve waits until the debugger listens, says how to reach it, and forwards.
func (s *session) serve(ctx context.Context) error {
	for {
		err := podconn.Answers(ctx, s.dial)
		if err == nil {
			break
		}
		if !errors.As(err, new(*podconn.RefusedError)) && !errors.Is(err, backend.ErrNoPod) && !apierrors.IsNotFound(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery): // a pause, however long the look took
		}
	}
	s.answered = true
	port := s.listener.Addr().(*net.TCPAddr).Port
	if err := s.printAddress(ctx, s.job, port, api.PodWorkspace); err != nil {
		return err
	}
	s.ui.Note("forwarding connections until the job ends; Ctrl-C ends only the forwarding")
	return podconn.Serve(ctx, s.listener, s.dial, func(err error) { s.ui.Warn(err.Error()) })
}

// printAddress prints the address for a debugger, and the entry for VS Code.
func (c *command) printAddress(ctx context.Context, j *job.Job, port int, workspace string) error {
	root := ""
	if call, err := j.Call(ctx); err == nil {
		if cwd, err := os.Getwd(); err == nil {
			root = packageRoot(call, cwd)
		}
	}
	if root == "" {
		root = "${workspaceFolder}"
		fmt.Fprintln(c.streams.ErrOut, "the job's code is not in this directory: open its package root in VS Code, or run this where the job was submitted")
	}
	entry := launch{Name: "Kinetic: " + j.ID(), Type: "debugpy", Request: "attach",
		Connect: address{"127.0.0.1", port}, PathMappings: []pathMapping{{root, workspace}}}
	if c.debugJSON {
		return cli.Write(c.streams.Out, cli.JSON, debugAddress{j.ID(), entry.Connect, entry})
	}
	if _, err := fmt.Fprintf(c.streams.Out, "127.0.0.1:%d\n", port); err != nil {
		return err
	}
	return printLaunch(c.streams.Out, entry)
}

type debugAddress struct {
	ID string `json:"id"`
	address
	// Launch is an entry of VS Code's launch.json.
	Launch launch `json:"launch"`
}

// packageRoot returns the local directory of the code if cwd is where the job was
// submitted, "" if it is not.
func packageRoot(call api.Call, cwd string) string {
	root := cwd
	if call.Cwd != "" {
		var below bool
		if root, below = strings.CutSuffix(cwd, string(filepath.Separator)+filepath.FromSlash(call.Cwd)); !below {
			return ""
		}
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(call.File))); err != nil {
		return ""
	}
	return root
}

// launch is an entry of VS Code's launch.json.
type launch struct {
	Name         string        `json:"name"`
	Type         string        `json:"type"`
	Request      string        `json:"request"`
	Connect      address       `json:"connect"`
	PathMappings []pathMapping `json:"pathMappings"`
}

type address struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

type pathMapping struct {
	LocalRoot  string `json:"localRoot"`
	RemoteRoot string `json:"remoteRoot"`
}

func printLaunch(out io.Writer, entry launch) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return enc.Encode(entry)
}
