package outputs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// After the end of a job, its outputs belong to whoever writes them: another job with the same --output-dir, or a person.
func TestOutputThatIsReplaced(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	entry := fmt.Sprintf(`{"path": "a", "size": 3, "mode": 420, "mtime_ns": 1, "sha256": "%064d"}`, 1)
	for name, content := range map[string]string{
		"a1/outputs/a":      "another text",
		store.Sync("a1", 0): `{"version": 2, "attempt": 1, "done": true, "files": [` + entry + `]}`,
	} {
		if err := s.Create(t.Context(), name, strings.NewReader(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Of(&job.Job{Handle: api.Handle{JobID: "a1"}, Store: s})
	if err != nil {
		t.Fatal(err)
	}
	f, err := dir.File(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := dir.Write(t.Context(), f, &got); err != nil || got.String() != "another text" {
		t.Errorf("got %q, %v", got.String(), err)
	}
}
