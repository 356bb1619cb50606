package jobs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

func (o *logOptions) printPart(ctx context.Context, j *job.Job) error {
	parts := j.Handle.Pathways.Parts()
	switch {
	case parts == nil:
		return cli.Usagef("--host %s: job %s does not use the Pathways runtime", o.part, j.ID())
	case !slices.Contains(parts, o.part):
		return cli.Usagef("--host %s: job %s has %s", o.part, j.ID(), strings.Join(parts, ", "))
	}
	err := j.PartLog(ctx, o.part, o.Options, o.streams.Out)
	if ctx.Err() != nil {
		return report.Interrupted(o.streams.ErrOut, j, ctx.Err())
	}
	return err
}

// printParts prints the log of the call and those of all parts of the Pathways runtime. Each line begins with whose it is.
func (o *logOptions) printParts(ctx context.Context, j *job.Job) error {
	out, errOut := labelled{o.streams.Out, "host-0", nil}, labelled{o.streams.ErrOut, "host-0", nil}
	call := report.NewLogWriter(&out, &errOut, false)
	err := printStored(ctx, j, call.Options(j, logs.Options{Tail: -1, Attempt: o.Attempt}), call, func(api.Status) {})
	out.end()
	errOut.end()
	if err != nil {
		return err
	}
	for _, part := range j.Handle.Pathways.Parts() {
		out := labelled{o.streams.Out, part, nil}
		err := j.PartLog(ctx, part, logs.Options{Tail: -1, Attempt: o.Attempt}, &out)
		out.end()
		switch {
		case ctx.Err() != nil:
			return report.Interrupted(o.streams.ErrOut, j, ctx.Err())
		case err != nil: // the others may have one
			fmt.Fprintf(o.streams.ErrOut, "%s: %v\n", part, err)
		}
	}
	return nil
}

// labelled writes lines, each after a label.
type labelled struct {
	to    io.Writer
	label string
	line  []byte // that has not ended
}

func (l *labelled) Write(text []byte) (int, error) {
	l.line = append(l.line, text...)
	i := bytes.LastIndexByte(l.line, '\n') + 1
	var out []byte
	for line := range bytes.Lines(l.line[:i]) {
		out = append(append(out, l.label+" │ "...), line...)
	}
	l.line = slices.Clone(l.line[i:])
	if len(out) > 0 {
		if _, err := l.to.Write(out); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// end writes the line that has not ended.
func (l *labelled) end() {
	if len(l.line) > 0 {
		_, _ = l.Write([]byte("\n")) // what can't be written was told before
	}
}
