package run

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// --like begins with the outputs that --resume-from chose for the earlier job. Those of a map come from --map-resume, which it doesn't
// repeat, even if the older map had no values.
func TestRestoredResumeFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		m    *api.Map
		want string
	}{
		"no map":               {nil, "old-1"},
		"a map with values":    {&api.Map{Inputs: 2, Inherited: 1}, ""},
		"a map without values": {&api.Map{Inputs: 2}, ""},
	} {
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		f := newFlags()
		e := &earlier{Job: &job.Job{Handle: api.Handle{CommandLine: &api.CommandLine{Target: "f.py:f"}, ResumeFrom: "old-1", Map: tt.m}}}
		if err := f.restore(NewCommand(streams, clock.RealClock{}), e); err != nil || f.request.ResumeFrom != tt.want {
			t.Errorf("%s: resumes from %q, %v; want %q", name, f.request.ResumeFrom, err, tt.want)
		}
	}
}
