package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// pickledInput is the line about an input of a map whose results are delivered as pickles.
type pickledInput struct {
	Index int  `json:"index"`
	OK    bool `json:"ok"`
	// Error is null if the call returned.
	Error *api.ResultError `json:"error,omitempty"`
	// Appended says where in the file the pickle is, of the value or of the exception. An
	// exception may have none.
	*verify.Appended
}

// untrustedInput is the line about an input whose pickle is not delivered: nothing that is trusted
// says that it is the result.
type untrustedInput struct {
	Index int              `json:"index"`
	OK    bool             `json:"ok"`
	Error *api.ResultError `json:"error"`
	Trust *verify.Source   `json:"trust"` // always null
}

// untrustedType is the type of the error of such an input.
const untrustedType = "UntrustedResult"

// pickles delivers the results of a map: their pickles one after the other in a file, and a line of
// JSON for each, in any order.
type pickles struct {
	*verify.Inputs
	file    *os.File
	size    int64
	lines   *json.Encoder
	refused int // inputs whose pickle is not delivered
}

func (p *pickles) Take(ctx context.Context, input int, r api.Result) (api.Result, error) {
	at, err := p.Append(ctx, p.file, p.size, input, r)
	if refused := new(verify.Error); errors.As(err, &refused) {
		return p.refuse(input, refused)
	}
	if err != nil {
		return r, err
	}
	line := pickledInput{Index: input, OK: r.OK, Error: r.Error, Appended: at}
	if at != nil {
		p.size += at.Size
	} else if r.OK {
		return r, fmt.Errorf("input %d has a value, but no pickle of it; omit --output-file to print its JSON", input)
	}
	return r, p.lines.Encode(line) // the pickle is in the file by now
}

// refuse makes an input one that has failed. While the map runs, a pod that computes it again may
// yet report the hash of what the store has.
func (p *pickles) refuse(input int, why error) (api.Result, error) {
	if p.Postpone(input) {
		return api.Result{}, records.ErrNotYet
	}
	p.refused++
	r := api.Result{Error: &api.ResultError{Type: untrustedType, Message: why.Error()}}
	return r, p.lines.Encode(untrustedInput{Index: input, Error: r.Error})
}

// FollowPickles is FollowMap for a map of pickled calls: it appends the pickles to the file, which
// is a new one, and writes a line of JSON about each to out. Every input has exactly one line. A
// warning about the origin of the pickles goes to w, and the name of an earlier file if the new one lacks results.
func (c Collection) FollowPickles(ctx context.Context, j *job.Job, out, w io.Writer, state func(api.Status), progress func(records.MapProgress)) (end MapEnd, err error) {
	file, err := verify.Create(c.File)
	if err != nil {
		return MapEnd{}, err
	}
	p := &pickles{Inputs: c.Trust.Inputs(j), file: file.File, lines: json.NewEncoder(out)}
	defer func() {
		whole := err == nil && len(end.Outcome.Missing) == 0 && p.refused == 0
		err = errors.Join(err, file.Close(whole))
		if file.Earlier != "" {
			fmt.Fprintf(w, "%s lacks results, so the file that it replaces is kept as %s\n", c.File, file.Earlier)
		}
	}()
	p.lines.SetEscapeHTML(false)
	noted := func(s api.Status) {
		p.Note(s)
		state(s)
	}
	end, err = followMap(ctx, j, noted, func(ctx context.Context, ended <-chan struct{}) (records.MapOutcome, error) {
		return j.Results().Each(ctx, ended, p, progress)
	})
	if err != nil {
		return end, err
	}
	for _, input := range end.Outcome.Missing {
		gone := api.ResultError{Message: job.NoInputResult}
		if err := p.lines.Encode(pickledInput{Index: input, Error: &gone}); err != nil {
			return end, err
		}
	}
	if text := p.Warning(); text != "" {
		fmt.Fprintln(w, "warning: "+ui.Clean(text))
	}
	return end, file.Sync()
}
