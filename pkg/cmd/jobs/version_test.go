package jobs

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
)

// A cluster that hangs is told as one that does not answer, and is no error.
func TestVersionOfAClusterThatHangs(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over.Done() }))
	t.Cleanup(server.Close)
	t.Cleanup(end)
	config := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","namespace":"ml"}}],
 "clusters":[{"name":"c","cluster":{"server":"` + server.URL + `"}}]}`
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	var out bytes.Buffer
	o := versionOptions{&out, connect.NewFlags(), false, "", 10 * time.Millisecond}
	if err := o.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(out.String(), "\n")
	if diff := cmp.Diff("cluster   c, namespace ml: no answer within 10ms\n", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnotherFrontDoor(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	streams, _, _, stderr := genericiooptions.NewTestIOStreams()
	code := cli.Run(t.Context(), newVersionCommand(streams), []string{"--front-door", "v9.9.9"}, streams)
	if want := "and kubectl-kinetic is v9.9.9: the plugin's binaries must be in one directory: reinstall it\n"; code != 0 || !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
}

func TestVersionLine(t *testing.T) {
	const commit = "7fd66dd8a1b2c3d4e5f60718293a4b5c6d7e8f90"
	for want, c := range map[string]clientVersion{
		"v0.1.0 (commit 7fd66dd8a1b2, linux/amd64, go1.26)":                                                  {Version: "v0.1.0", Commit: commit},
		"v0.1.0-5-g7fd66dd-dirty (development build, commit 7fd66dd8a1b2 with changes, linux/amd64, go1.26)": {Version: "v0.1.0-5-g7fd66dd-dirty", Commit: commit, Modified: true, Development: true},
		"v0.1.0 (linux/amd64, go1.26)":                                                                       {Version: "v0.1.0"},
		"devel (development build, linux/amd64, go1.26)":                                                     {Version: "devel", Development: true},
	} {
		c.GoVersion, c.Platform = "go1.26", "linux/amd64"
		if got := c.line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
