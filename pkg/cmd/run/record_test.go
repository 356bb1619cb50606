package run

import (
	"cmp"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// --like begins with the outputs that --resume-from chose for the earlier job. Those of a map come from --map-resume, which it doesn't
// repeat, even if the older map had no values. A job that can't begin with those outputs begins without them.
func TestRestoredResumeFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		m       *api.Map
		backend api.Backend
		typed   string // a flag
		local   bool
		want    string
	}{
		"no map":                         {want: "old-1"},
		"a map with values":              {m: &api.Map{Inputs: 2, Inherited: 1}},
		"a map without values":           {m: &api.Map{Inputs: 2}},
		"a job that becomes a map":       {typed: "map"},
		"a directory for the outputs":    {typed: "output-dir"},
		"another flag":                   {typed: "cpu", want: "old-1"},
		"from a cluster to this machine": {backend: api.BackendGKE, local: true},
		"from this machine to a cluster": {backend: api.BackendLocal, typed: "backend"},
		"on this machine":                {backend: api.BackendLocal, local: true, want: "old-1"},
	} {
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		f, c := newFlags(), NewCommand(streams, clock.RealClock{})
		f.local, f.backend = tt.local, autoBackend
		if tt.typed != "" {
			if err := c.Flags().Set(tt.typed, cmp.Or(c.Flags().Lookup(tt.typed).DefValue, "1")); err != nil {
				t.Fatal(err)
			}
		}
		e := &earlier{Job: &job.Job{Handle: api.Handle{CommandLine: &api.CommandLine{Target: "f.py:f"}, ResumeFrom: "old-1", Map: tt.m, Backend: tt.backend}}}
		if err := f.restore(c, e); err != nil || f.request.ResumeFrom != tt.want || e.anew != (tt.want == "" && tt.m == nil) {
			t.Errorf("%s: resumes from %q, %v; want %q", name, f.request.ResumeFrom, err, tt.want)
		}
	}
}
