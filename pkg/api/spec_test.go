package api

import (
	"strings"
	"testing"
)

func TestJobName(t *testing.T) {
	for name, c := range map[string]struct {
		backend  Backend
		id, want string
		queue    string
	}{
		"a Job":                                   {BackendGKE, "l4-train-20260417-153012-abc1234", "kinetic-l4-train-20260417-153012-abc1234", ""},
		"a LeaderWorkerSet":                       {BackendLWS, "v6e16-f-20260417-153012-abc1234", "keras-pathways-v6e16-f-20260417-153012-abc1234", ""},
		"the longest id that fits":                {BackendLWS, "v6e16-train-20260417-153012-abc1234", "keras-pathways-v6e16-train-20260417-153012-abc1234", ""},
		"one character more":                      {BackendLWS, "v6e16-train1-20260417-153012-abc1234", "keras-pathways-20260417-153012-abc1234", ""},
		"a long id of the user's own":             {BackendLWS, strings.Repeat("a", 50), "keras-pathways-aaaaaaaaaaaaaaaaaaaaaaaaaaa-160b4e4", ""},
		"a Job in a queue":                        {BackendGKE, "l4-train-20260417-153012-abc1234", "kinetic-l4-train-20260417-153012-abc1234", "q"},
		"the longest id that fits in a queue":     {BackendLWS, "v6e16-the-vision-model-1", "keras-pathways-v6e16-the-vision-model-1", "q"},
		"one character more in a queue":           {BackendLWS, "v6e16-the-vision-model-12", "keras-pathways-v6e16-the-vision-f77e785", "q"},
		"an ordinary id in a queue":               {BackendLWS, "cpu-f-20260417-153012-abc1234", "keras-pathways-20260417-153012-abc1234", "q"},
		"one of its own that is cut after a dash": {BackendLWS, strings.Repeat("a", 26) + "-" + strings.Repeat("b", 20), "keras-pathways-aaaaaaaaaaaaaaaaaaaaaaaaaa-1ebc1fa", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Spec{ID: c.id, Placement: Placement{Backend: c.backend, Queue: c.queue}}.JobName()
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if c.backend == BackendLWS && len(got) > 50 {
				t.Errorf("%q has %d characters, at most 50 make workers", got, len(got))
			}
			if c.backend == BackendLWS && c.queue != "" && len(got) > 39 {
				t.Errorf("%q has %d characters, at most 39 leave a queue", got, len(got))
			}
		})
	}
}
