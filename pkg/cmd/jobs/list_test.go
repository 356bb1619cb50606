package jobs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// What comes later in a watch is often longer than what was there at first.
func TestColumnsOfAWatchStay(t *testing.T) {
	var out bytes.Buffer
	p := entryPrinter{watched: true, now: time.Now, out: &out}
	for _, e := range []job.Entry{
		{ID: "a1", State: api.Failed, Function: "here"},
		{ID: "v5e1-train-model-20260417-153012-abc1234", State: api.Succeeded, Function: "here"},
	} {
		if err := p.print([]job.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(out.String(), "\n")
	if at := strings.Index(lines[1], "here"); at < 0 || strings.Index(lines[2], "here") != at {
		t.Errorf("the columns shift:\n%s", &out)
	}
}
