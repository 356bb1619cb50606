package jobs

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
)

// Whoever asks for an input hears of that, not of a chunk alone.
func TestInputWithoutALog(t *testing.T) {
	f := &logFlags{index: 59}
	other := errors.New("other")
	for want, err := range map[string]error{"input 59 was not begun: chunk 11 has no log": fmt.Errorf("chunk 11 has %w", logs.ErrNoLog), "other": other} {
		if got := f.ofInput(err); got.Error() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if err := f.ofInput(nil); err != nil {
		t.Error(err)
	}
}
