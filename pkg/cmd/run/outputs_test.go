package run

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

// The Python tool's buckets delete everything after 30 days.
func TestNoteOutputs(t *testing.T) {
	bucket := storetest.NewBucket(t)
	bucket.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/storage/v1/b/"+storetest.BucketName {
			_, _ = io.WriteString(w, `{"lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":{"age":30}}]}}`)
			return
		}
		next.ServeHTTP(w, r)
	})
	s, err := store.Open(storetest.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Create(t.Context(), "cpu-train/outputs/model", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"cpu-train": "1 output: kubectl kinetic jobs outputs cpu-train cp out\na rule of the bucket deletes outputs 30 days after they were written: " + storetest.URL + "/cpu-train/outputs\n",
		"cpu-none":  "",
	} {
		var said strings.Builder
		o := &options{ui: ui.New(&said, time.Now)}
		o.noteOutputs(t.Context(), &job.Job{Handle: api.Handle{JobID: id}, Store: s}, "")
		if said.String() != want {
			t.Errorf("%s: got %q, want %q", id, said.String(), want)
		}
	}
}
