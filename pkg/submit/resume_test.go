package submit

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestResumeFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		old     api.Handle
		from    string
		mistake string // "" for no error
	}{
		"an older job":          {from: "old-1"},
		"by a prefix of its ID": {from: "old"},
		"one that is gone":      {from: "nope", mistake: "--resume-from: "},
		"one with outputs in a bucket": {old: api.Handle{OutputDir: "gs://team/ckpt"}, from: "old-1",
			mistake: "--resume-from old-1: that job wrote to gs://team/ckpt: use --output-dir gs://team/ckpt"},
		"one with outputs on a volume": {old: api.Handle{OutputDir: "/mnt/ckpt"}, from: "old-1",
			mistake: "--resume-from old-1: that job wrote to /mnt/ckpt, a directory of its own: use --output-dir /mnt/ckpt"},
	} {
		t.Run(name, func(t *testing.T) {
			at := registry(t, workload{start: well, ready: well})
			tt.old.Version, tt.old.JobID, tt.old.Backend = api.HandleVersion, "old-1", api.BackendGKE
			handle, err := json.Marshal(tt.old)
			if err != nil {
				t.Fatal(err)
			}
			write(t, at, store.Handle("old-1"), string(handle))
			p := Planned{request: api.Request{Execution: api.Execution{ResumeFrom: tt.from}}}
			p.Spec.Store = at.Store.URL()
			p, err = Resolve(t.Context(), p, at)
			if mistake := new(InputError); tt.mistake != "" {
				if !errors.As(err, &mistake) || !strings.HasPrefix(err.Error(), tt.mistake) {
					t.Errorf("got %v, want an InputError %q", err, tt.mistake)
				}
				return
			}
			if err != nil || p.Spec.ResumeFrom != "old-1" {
				t.Errorf("got %q, %v", p.Spec.ResumeFrom, err)
			}
		})
	}
}
