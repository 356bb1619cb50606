package cloudbuild_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
)

// The logs are as Cloud Build, BuildKit, uv and pip write them. The golden file has what a
// user reads of each.
func TestExplain(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "logs", "*.txt"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d logs, error %v", len(files), err)
	}
	var all strings.Builder
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := newCloud(t, cloudbuildtest.Logs(string(log)), cloudbuildtest.Ends(cloudbuildpb.Build_FAILURE))
		_, _, err = follow(t, c)
		fmt.Fprintf(&all, "== %s\n%s\n\n", filepath.Base(file), strings.ReplaceAll(err.Error(), c.Registry, "registry"))
	}
	golden.Check(t, "testdata/explain.golden", all.String())
}

// Whatever a log has, it is explained in a few lines.
func TestExplainOddLogs(t *testing.T) {
	for name, tt := range map[string]struct {
		log  []string
		want string
	}{
		"empty":              {nil, ""},
		"only rules":         {[]string{"------", "------", "------"}, ""},
		"a rule at the end":  {[]string{"x", "------"}, "x"},
		"an open block":      {[]string{"------", " > [1/2] RUN x:", "0.1 why"}, "why"},
		"an empty block":     {[]string{"y", "------", " > [1/2] RUN x:", "------"}, "y| > [1/2] RUN x:"},
		"nothing but errors": {[]string{"ERROR", "", "ERROR: build step 0 \"x\" failed: y"}, ""},
		"a progress bar":     {[]string{"10%\r50%\r100%\r"}, "100%"},
		"bytes":              {[]string{"\xff\xfe"}, "?"},
		"many lines":         {strings.Split("1 2 3 4 5 6 7 8 9 10", " "), "3|4|5|6|7|8|9|10"},
	} {
		if got := strings.Join(cloudbuild.Explain(tt.log, &cloudbuildpb.Build{}), "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
