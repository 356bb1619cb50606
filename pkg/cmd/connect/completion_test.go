package connect

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// completed returns what a command with these flags answers to kubectl.
func completed(t *testing.T, connection *Flags, words ...string) string {
	t.Helper()
	root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	cli.AddSections(root, connection.Section())
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	if code := cli.Run(t.Context(), root, append([]string{cobra.ShellCompRequestCmd}, words...), streams); code != 0 || errOut.Len() > 0 {
		t.Errorf("exit code %d, it said %q", code, &errOut)
	}
	return out.String()
}

func TestConnectionCompletes(t *testing.T) {
	tests := map[string]struct {
		profiles string
		flag     string
		want     string
	}{
		"profiles":      {`{"profiles": {"big": {"project": "acme-ml", "zone": "us-west1", "cluster": "main"}, "a": {"project": "p", "zone": "z", "cluster": "c"}}}`, "--profile", "a\tcluster c in z of project p\nbig\tcluster main in us-west1 of project acme-ml\n:4\n"},
		"no profiles":   {"{}", "--profile", ":4\n"},
		"a broken file": {"{", "--profile", ":4\n"},
		"contexts":      {"{", "--context", "certificate\ngke_acme-ml_us-central1-a_main\nhinted\nkind-dev\nnowhere\nold\npath\nplugin\nunfinished\n:4\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			connection, path := connect(t, kubeconfig)
			file := filepath.Join(filepath.Dir(path), "profiles.json")
			if err := os.WriteFile(file, []byte(tt.profiles), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KINETIC_PROFILES_FILE", file)
			if got := completed(t, connection, tt.flag, ""); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNamespacesComplete(t *testing.T) {
	const list = `{"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Status"},{"name":"Age"}],"rows":[{"cells":["default","Active","5d"]},{"cells":["ml","Active","5d"]}]}`
	tests := map[string]struct {
		code   int
		answer string
		want   string
	}{
		"all of the cluster":               {200, list, "default\nml\n:4\n"},
		"of the contexts, if not allowed":  {403, `{"kind":"Status"}`, "research\n:4\n"},
		"of the contexts, without a table": {200, `{"kind":"NamespaceList"}`, "research\n:4\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/v1/namespaces" || r.Header.Get("Accept") != apiserver.AcceptTable || r.URL.Query().Get("includeObject") != "None" {
					t.Errorf("unexpected request %s with Accept %s", r.URL, r.Header.Get("Accept"))
				}
				w.WriteHeader(tt.code)
				_, _ = io.WriteString(w, tt.answer)
			}))
			t.Cleanup(server.Close)
			connection, _ := connect(t, strings.ReplaceAll(kubeconfig, "https://127.0.0.1:6443", server.URL))
			t.Setenv("KINETIC_STORE", "") // none is needed
			t.Setenv("KINETIC_PROJECT", "")
			if got := completed(t, connection, "-n", ""); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("without a kubeconfig", func(t *testing.T) {
		connection, _ := connect(t, "")
		if got := completed(t, connection, "-n", ""); got != ":4\n" {
			t.Errorf("got %q", got)
		}
	})
}
