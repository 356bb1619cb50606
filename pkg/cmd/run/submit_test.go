package run

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// A user who interrupts a submit hears what there may be of the job.
func TestInterruptedSubmit(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	mayRun := fmt.Errorf("no answer: %w", &submit.MayRunError{})
	taken := &submit.ExistsError{ID: "a1", Where: "namespace ml", Same: true}
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		says string
	}{
		"nothing there":              {interrupted, context.Canceled, process.ExitInterrupted, "interrupted; nothing was started\n"},
		"the job may run":            {interrupted, mayRun, process.ExitInterrupted, "interrupted; " + (&submit.MayRunError{}).Advice() + "\n"},
		"there is such a job":        {interrupted, taken, process.ExitInterrupted, "interrupted; " + taken.Error() + "\n"},
		"not interrupted, may run":   {t.Context(), mayRun, process.ExitFailed, ""},
		"not interrupted, taken":     {t.Context(), taken, process.ExitUsage, ""},
		"not interrupted, unusable":  {t.Context(), &submit.StoreError{}, process.ExitUsage, ""},
		"not interrupted, a mistake": {t.Context(), &submit.InputError{}, process.ExitUsage, ""},
		"not interrupted, an outage": {t.Context(), errors.New("503"), process.ExitFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, said := genericiooptions.NewTestIOStreams()
			o := &options{streams: streams}
			if code := process.CodeOf(o.applyError(tt.ctx, tt.err)); code != tt.code || said.String() != tt.says {
				t.Errorf("exit code %d, said %q; want %d, %q", code, said, tt.code, tt.says)
			}
		})
	}
}
