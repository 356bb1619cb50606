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
	o := versionOptions{&out, connect.NewFlags(), "", 10 * time.Millisecond}
	if err := o.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("cluster   c, namespace ml: no answer within 10ms\n", out.String()); diff != "" {
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
