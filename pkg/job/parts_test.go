package job

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

// partsOf is a backend with the log of one part.
type partsOf struct {
	steps
	part, log string
}

func (p partsOf) PartLog(ctx context.Context, h api.Handle, part string, o logs.Options, w io.Writer) error {
	if part != p.part {
		return p.steps.PartLog(ctx, h, part, o, w)
	}
	_, err := io.WriteString(w, p.log)
	return err
}

// The log of a part is the container's, or what the store has of an attempt that failed.
func TestPartLog(t *testing.T) {
	j := &Job{
		Handle: api.Handle{JobID: "a1", Hosts: 1, Pathways: &api.Pathways{TPUHosts: 2}},
		Store: storeWith(t, map[string]string{
			"a1/end.json": `{"version":1,"state":"FAILED","attempt":2}`, "a1/attempts/1.json": `{"version":1,"attempt":1}`, "a1/attempts/2.json": `{"version":1,"attempt":2}`,
			"a1/parts/1/rm.log": "first\nsecond\nthird\n", "a1/parts/2/worker-1.log": "second",
		}),
		Backend: partsOf{part: "proxy", log: "runs"},
	}
	for _, tt := range []struct {
		part    string
		attempt int
		tail    int
		want    string // "" for none
	}{
		{"proxy", 0, -1, "runs"}, {"worker-1", 0, -1, "second"}, {"rm", 1, -1, "first\nsecond\nthird\n"}, {"rm", 0, -1, ""}, {"proxy", 1, -1, ""},
		{"rm", 1, 2, "second\nthird\n"}, {"rm", 1, 5, "first\nsecond\nthird\n"}, {"worker-1", 0, 1, "second"},
	} {
		var b bytes.Buffer
		err := j.PartLog(t.Context(), tt.part, logs.Options{Attempt: tt.attempt, Tail: tt.tail}, &b)
		if b.String() != tt.want || (err == nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), "has no log of "+tt.part) {
			t.Errorf("%s of attempt %d: got %q, %v, want %q", tt.part, tt.attempt, b.String(), err, tt.want)
		}
	}
}
