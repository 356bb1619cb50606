package jobs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

func (o *logOptions) printPart(ctx context.Context, j *job.Job) error {
	parts := j.Handle.Pathways.Parts()
	switch {
	case parts == nil:
		return cli.Usagef("--host %s: job %s does not use the Pathways runtime", o.part, j.ID())
	case !slices.Contains(parts, o.part):
		return cli.Usagef("--host %s: job %s has %s", o.part, j.ID(), strings.Join(parts, ", "))
	}
	out, end := harmless(o.streams.Out)
	err := j.PartLog(ctx, o.part, o.Options, out)
	err = cmp.Or(err, end())
	if ctx.Err() != nil {
		return report.Interrupted(o.streams.ErrOut, j, "", ctx.Err())
	}
	return err
}

// printParts prints the log of the call and those of all parts of the Pathways runtime. Each line begins with whose it is.
func (o *logOptions) printParts(ctx context.Context, j *job.Job) (err error) {
	to, end := harmless(o.streams.Out)
	errTo, errEnd := harmless(o.streams.ErrOut)
	defer func() { err = cmp.Or(err, end(), errEnd()) }()
	out, errOut := display.NewLines(labelled{to, "host-0"}), display.NewLines(labelled{errTo, "host-0"})
	call := report.NewLogWriter(out, errOut, false)
	err = printStored(ctx, j, call.Options(j, logs.Options{Tail: -1, Attempt: o.Attempt}), call, func(api.Status) {})
	if err = cmp.Or(err, out.Close(), errOut.Close()); err != nil {
		return err
	}
	for _, part := range j.Handle.Pathways.Parts() {
		out := display.NewLines(labelled{to, part})
		err := j.PartLog(ctx, part, logs.Options{Tail: -1, Attempt: o.Attempt}, out)
		err = cmp.Or(err, out.Close())
		switch {
		case ctx.Err() != nil:
			return report.Interrupted(o.streams.ErrOut, j, "", ctx.Err())
		case err != nil: // the others may have one
			fmt.Fprintf(o.streams.ErrOut, "%s: %v\n", part, err)
		}
	}
	return nil
}

// harmless returns a writer of lines to w, and what ends them. A terminal shows control characters as text.
func harmless(w io.Writer) (to io.Writer, end func() error) {
	if !term.IsTerminal(w) {
		return w, func() error { return nil }
	}
	t := display.NewStill(w)
	return t, t.Close
}

// labelled writes whole lines, each after a label.
type labelled struct {
	to    io.Writer
	label string
}

func (l labelled) Write(text []byte) (int, error) {
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(append(out, l.label+" │ "...), bytes.TrimRight(line, "\n")...)
		out = append(out, '\n')
	}
	if _, err := l.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}
