package outputs

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

// onChange calls f before each change of the bucket, with how many there were.
func onChange(b *storetest.Bucket, f func(before int)) {
	changes := 0
	b.Before(func(r *http.Request) {
		if r.Method != http.MethodGet {
			f(changes)
			changes++
		}
	})
}

// names returns the names of all objects of a job.
func names(t *testing.T, b *storetest.Bucket, id string) (names []string) {
	t.Helper()
	for _, o := range b.Objects(t, storetest.Prefix+id+"/") {
		names = append(names, strings.TrimPrefix(o.Name, storetest.Prefix+id+"/"))
	}
	return names
}

// outputsOf opens the outputs of a job in the bucket, as a command does.
func outputsOf(t *testing.T, b *storetest.Bucket, h api.Handle) *Dir {
	t.Helper()
	dir, err := Of(&job.Job{Handle: h, Store: b.Open(t)})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
