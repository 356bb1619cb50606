package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// client runs programs, above all kubectl-kinetic, as a user would: from the PATH, with an environment.
type client struct {
	env []string
	dir string    // where they run
	log io.Writer // gets the commands and all that they print
}

// with returns a client with more variables.
func (c client) with(env ...string) client {
	c.env = slices.Concat(c.env, env)
	return c
}

// event is what acceptance reads of a line that a command writes with --events json.
type event struct {
	Event   string          `json:"event"`
	Name    string          `json:"name"`
	Detail  string          `json:"detail"`
	State   string          `json:"state"`
	Message string          `json:"message"`
	Line    string          `json:"line"`
	Kind    string          `json:"kind"`
	Code    int             `json:"code"`
	Job     json.RawMessage `json:"job"` // an object in submitted, a string in others
}

// answer is what a command has printed.
type answer struct {
	out    string
	events []event
}

// job returns the ID of the job that was submitted, "" if none was.
func (a answer) job() string {
	for _, e := range a.events {
		var handle struct {
			ID string `json:"job_id"`
		}
		if e.Event == "submitted" && json.Unmarshal(e.Job, &handle) == nil {
			return handle.ID
		}
	}
	return ""
}

// logged reports whether the job has printed a line.
func (a answer) logged(line string) bool {
	return slices.ContainsFunc(a.events, func(e event) bool { return e.Event == "log" && e.Line == line })
}

// failure is the error of a command.
type failure struct {
	command string
	code    int
	message string
	// waited is what the job waited for, in the order in which that was said.
	waited []string
}

// Error implements error.
func (f *failure) Error() string {
	text := fmt.Sprintf("%s: exit code %d: %s", f.command, f.code, cmp.Or(f.message, "it said nothing"))
	if n := len(f.waited); n > 0 {
		text += "; last: " + f.waited[n-1]
	}
	return text
}

// kinetic runs kubectl kinetic to its end. The error is a *failure if it ran and failed.
func (c client) kinetic(ctx context.Context, args ...string) (answer, error) {
	out, printed, err := c.program(ctx, "kubectl-kinetic", withEvents(args)...)
	a := answer{out: out}
	f := &failure{command: "kubectl kinetic " + strings.Join(args, " ")}
	for line := range strings.Lines(printed) {
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		a.events = append(a.events, e)
		switch e.Event {
		case "state":
			if e.State == "PENDING" && e.Message != "" {
				f.waited = append(f.waited, e.Message)
			}
			if e.State == "RUNNING" {
				f.waited = nil
			}
		case "error":
			f.message = e.Message
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if f.message == "" {
			f.message = lastLine(printed)
		}
		f.code = exit.ExitCode()
		err = f
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), f)
		}
	}
	return a, err
}

// withEvents adds --events json before the first flag.
func withEvents(args []string) []string {
	i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if i < 0 {
		i = len(args)
	}
	return slices.Insert(slices.Clone(args), i, "--events", "json")
}

// grace is how long a program that was interrupted may take to end.
const grace = 30 * time.Second

// program runs a program to its end, and returns what it has written to its standard output and error. It
// leads a process group, so that Ctrl-C in a terminal does not reach it: it is interrupted when ctx ends.
func (c client) program(ctx context.Context, name string, args ...string) (out, printed string, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, c.log), io.MultiWriter(&stderr, c.log)
	cmd.WaitDelay = grace
	interruptible(cmd)
	fmt.Fprintf(c.log, "\n%s $ %s %s\n", time.Now().UTC().Format(time.TimeOnly), name, strings.Join(args, " "))
	err = cmd.Run()
	if err != nil {
		fmt.Fprintf(c.log, "%s: %v\n", name, err)
	}
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return stdout.String(), stderr.String(), err
}

// text runs a program that is not kubectl kinetic and returns its standard output without the last end of line.
func (c client) text(ctx context.Context, name string, args ...string) (string, error) {
	out, printed, err := c.program(ctx, name, args...)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, lastLine(printed))
	}
	return strings.TrimRight(out, "\n"), nil
}

// decode runs kubectl kinetic with -o json and decodes its answer.
func decode[T any](ctx context.Context, c client, args ...string) (T, error) {
	var value T
	a, err := c.kinetic(ctx, append(args, "-o", "json")...)
	if err == nil {
		err = json.Unmarshal([]byte(a.out), &value)
	}
	if err != nil {
		return value, fmt.Errorf("reading the answer of %s: %w", args[0], err)
	}
	return value, nil
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
