package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// InputsFormat is the value of --output that prints the inputs of a map beside the values.
const InputsFormat = "inputs"

// inputLine is the line of an input with its value, or with why there is none.
type inputLine struct {
	Index int             `json:"index"`
	Input json.RawMessage `json:"input"`
	Value json.RawMessage `json:"value,omitempty"`
	Error *Failure        `json:"error,omitempty"`
}

// Failure is why a job or an input has no value. Type and Traceback come from its exception, if there was one.
type Failure struct {
	Type      string `json:"type,omitempty"`
	Message   string `json:"message"`
	Traceback string `json:"traceback,omitempty"`
}

// FailureOf returns the failure of a call that has raised an exception.
func FailureOf(e api.ResultError) Failure { return Failure{e.Type, e.Message, e.Traceback} }

// Results returns the results of a map as they are printed: with inputs, each line is an object that has the input, too.
// The caller closes what it reads them from.
func Results(ctx context.Context, j *job.Job, inputs bool) (records.MapResults, io.Closer, error) {
	results := j.Results()
	if !inputs {
		return results, io.NopCloser(nil), nil
	}
	blob, err := j.Store.Open(ctx, store.Blob(j.Handle.Map.InputsSHA256))
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("the inputs of job %s were deleted from the store: print its values without --output %s", j.ID(), InputsFormat)
	}
	if err != nil {
		return results, nil, err
	}
	lines := bufio.NewReaderSize(blob, 64<<10)
	results.Line = func(index int, r *api.Result) ([]byte, error) { // is called for one input after the other
		input, err := lines.ReadBytes('\n')
		if err != nil && (!errors.Is(err, io.EOF) || len(input) == 0) {
			return nil, fmt.Errorf("reading input %d of job %s: %w", index, j.ID(), err)
		}
		return lineWithInput(index, bytes.TrimSpace(input), r)
	}
	return results, blob, nil
}

// lineWithInput returns the line of an input, without the end. r is nil if there is no result.
func lineWithInput(index int, input []byte, r *api.Result) ([]byte, error) {
	line := inputLine{Index: index, Input: input}
	switch {
	case r == nil:
		line.Error = &Failure{Message: job.NoInputResult}
	case r.OK && len(r.Value) == 0:
		line.Value = json.RawMessage("null")
	case r.OK:
		line.Value = r.Value
	case r.Error == nil:
		line.Error = &Failure{Message: "its result doesn't say why"}
	default:
		line.Error = new(FailureOf(*r.Error))
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(line)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
