package run

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// The time that a large upload takes is not that of packaging.
func TestShowStored(t *testing.T) {
	start := time.Unix(1000, 0)
	for name, tt := range map[string]struct {
		code, data int64
		want       []string
	}{
		"nothing new": {0, 0, []string{"packaged    1 file, 30 MiB, 0 B new (12s)"}},
		"little new":  {1 << 20, 0, []string{"packaged    1 file, 30 MiB, 1.0 MiB new (12s)"}},
		"much new":    {10 << 20, 20 << 20, []string{"packaged    1 file, 30 MiB, 10 MiB new (2.0s)", "uploaded    30 MiB, 3.0 MiB/s (10s)"}},
	} {
		var said strings.Builder
		o := &options{ui: ui.NewStyled(&said, func() time.Time { return start }, ui.Style{})}
		planned := submit.Planned{Files: &pack.Plan{Bytes: 30 << 20, Index: api.Index{Files: make([]api.IndexFile, 1)}}}
		sent := submit.Submitted{Stats: pack.Stats{NewBytes: tt.code}, Data: pack.Stats{NewBytes: tt.data}}
		o.showStored(planned, sent, upload{began: start.Add(2 * time.Second), ended: start.Add(12 * time.Second)})
		if got, want := said.String(), strings.Join(tt.want, "\n")+"\n"; got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
}
