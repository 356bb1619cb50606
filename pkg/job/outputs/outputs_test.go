package outputs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// named is a store whose URL is all that matters.
type named struct {
	store.Store
	url string
}

func (n named) URL() string { return n.url }

func TestOutputsAreWhereTheJobWrote(t *testing.T) {
	tests := map[string]struct {
		handle api.Handle
		want   string
	}{
		"in the store":          {api.Handle{JobID: "a1", Backend: api.BackendGKE}, "file:///store/a1/outputs"},
		"of the Python tool":    {api.Handle{JobID: "job-1", BucketName: "b"}, "file:///store/outputs/job-1"},
		"in another bucket":     {api.Handle{JobID: "a1", Backend: api.BackendGKE, OutputDir: "gs://b/run 1/"}, "gs://b/run 1"},
		"in a folder here":      {api.Handle{JobID: "a1", Backend: api.BackendLocal, OutputDir: "/tmp/out"}, "file:///tmp/out"},
		"in a container's disk": {api.Handle{JobID: "a1", Backend: api.BackendGKE, OutputDir: "/mnt/out"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := &job.Job{Handle: tt.handle, Store: named{url: "file:///store"}}
			got := ""
			dir, err := Of(j)
			if err == nil {
				got = dir.URL()
			}
			if got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestNoOutputLeavesItsFolder(t *testing.T) {
	tests := map[string]struct {
		at   string
		name string
		want string // "" is refused
	}{
		"below the folder":    {"", "a/b.txt", "a/b.txt"},
		"below a path":        {"a", "a/b/c.txt", "b/c.txt"},
		"below one that ends": {"a/", "a/b.txt", "b.txt"},
		"dots in a name":      {"", "a/..b", "a/..b"},
		"up":                  {"", "../b.txt", ""},
		"up in between":       {"", "a/../../b.txt", ""},
		"up and down":         {"", "a/../b.txt", ""},
		"absolute":            {"", "/etc/passwd", ""},
		"absolute below":      {"a", "a//etc/passwd", ""},
		"empty elements":      {"", "a//b.txt", ""},
		"the folder itself":   {"", ".", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got string
			plan, err := Below([]File{{Name: tt.name}}, tt.at)
			if err == nil {
				got = plan[0].to
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s\n%v", diff, err)
			}
		})
	}
}
