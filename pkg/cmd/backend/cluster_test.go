package backend

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestAProxyMayBeAnyCluster(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:8001"}
	server, err := serverURL(config)
	if err != nil {
		t.Fatal(err)
	}
	if id := clusterID(config, server); id != "" {
		t.Errorf("the id of what is behind %s is %q, want none", server, id)
	}
}

func TestClusterID(t *testing.T) {
	ca := func(text string) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(text)})
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, append([]byte("# of the pod\n"), ca("one")...), 0o600); err != nil {
		t.Fatal(err)
	}
	config := func(host string, authority []byte) *rest.Config {
		return &rest.Config{Host: host, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
	}
	for name, tt := range map[string]struct {
		a, b *rest.Config
		same bool
	}{
		"from within a pod":              {config("https://192.0.2.1", ca("one")), &rest.Config{Host: "https://10.96.0.1:443", TLSClientConfig: rest.TLSClientConfig{CAFile: file}}, true},
		"through a tunnel":               {config("https://192.0.2.1", ca("one")), config("https://127.0.0.1:6443", ca("one")), true},
		"two machines' kind":             {config("https://127.0.0.1:6443", ca("one")), config("https://127.0.0.1:6443", ca("two")), false},
		"behind one proxy":               {config("https://proxy/k8s/clusters/c-1", ca("one")), config("https://proxy/k8s/clusters/c-2", ca("one")), false},
		"an authority that is renewed":   {config("https://192.0.2.1", ca("one")), config("https://192.0.2.1", append(ca("one"), ca("two")...)), true},
		"an authority that all trust":    {config("https://a.example", nil), config("https://b.example", nil), false},
		"the same address":               {config("https://A.example:443/", nil), config("https://a.example", nil), true},
		"addresses that differ in ports": {config("https://a.example:6443", nil), config("https://a.example", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			id := func(c *rest.Config) string {
				server, err := serverURL(c)
				if err != nil {
					t.Fatal(err)
				}
				return clusterID(c, server)
			}
			if a, b := id(tt.a), id(tt.b); (a == b) != tt.same {
				t.Errorf("%s and %s, want the same: %v", a, b, tt.same)
			}
		})
	}
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: gke
  cluster: {server: "https://192.0.2.1"}
- name: kind
  cluster: {server: "https://127.0.0.1:6443"}
- name: misspelt
  cluster: {server: "::1::"}
- name: proxy
  cluster: {server: "http://127.0.0.1:8001"}
- name: broken
  cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: aaaa}
contexts:
- name: gke_acme-ml_us-central1-a_main
  context: {cluster: gke}
- name: kind-dev
  context: {cluster: kind}
- name: misspelt
  context: {cluster: misspelt}
- name: proxy
  context: {cluster: proxy}
- name: broken
  context: {cluster: broken}
`

// connection is the flags of a command on a machine with this kubeconfig.
func connection(t *testing.T, args ...string) *connect.Flags {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": home, "KUBECONFIG": path, "KINETIC_PROJECT": ""} {
		t.Setenv(name, value)
	}
	flags := connect.NewFlags()
	if err := flags.Section().Flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags
}

func TestClusterThatNoClientCanReach(t *testing.T) {
	for context, want := range map[string]string{
		"misspelt": "preparing a client for ::1::: parse \"http://::1::\": invalid port \"::1::\" after host: " + connect.SettingHint,
		"broken":   "unable to load root certificates: unable to parse bytes as PEM block: " + connect.SettingHint,
	} {
		c := connection(t, "--context", context)
		where, err := c.ResolveJobs()
		if err != nil {
			t.Fatal(err)
		}
		_, err = Cluster(c, where, "")
		if err == nil || !strings.Contains(err.Error(), want) || cli.CodeOf(err) != cli.ExitUsage {
			t.Errorf("%s: got exit code %d, %v, want %q in it", context, cli.CodeOf(err), err, want)
		}
	}
}

func TestClusterPlaceTellsItsCluster(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:1")
	for context, want := range map[string]struct{ name, server string }{
		"kind-dev":                       {"", "https://127.0.0.1:6443"},
		"gke_acme-ml_us-central1-a_main": {"main", "https://192.0.2.1"},
	} {
		p, _, err := JobsRegistry(connection(t, "--store", "gs://bucket", "-n", "ml", "--context", context), false)
		if err != nil {
			t.Fatal(err)
		}
		if p.Cluster != want.name || p.Server != want.server || len(p.ClusterID) != 32 {
			t.Errorf("%s: cluster %q at %s with id %q, want %+v", context, p.Cluster, p.Server, p.ClusterID, want)
		}
	}
	if got := knownCluster(config.Target{Cluster: "main", From: config.Sources{Cluster: "gcloud configuration default"}}); got != "" {
		t.Errorf("gcloud's cluster is taken for that of a context that is none of GKE: %s", got)
	}
}

// A store is opened once, also by several goroutines, and one that can't be opened is tried again.
func TestOpenerOf(t *testing.T) {
	usual, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	open := openerOf(usual)
	other := "file://" + t.TempDir()
	got := make([]store.Store, 8)
	parallel.Each(len(got), got, func(i int, _ store.Store) {
		s, err := open(other)
		if err != nil {
			t.Error(err)
		}
		got[i] = s
	})
	for _, s := range got {
		if s != got[0] || s.URL() != other {
			t.Errorf("got %p of %s, and %p", s, s.URL(), got[0])
		}
	}
	for _, url := range []string{"", usual.URL()} {
		if s, err := open(url); s != usual || err != nil {
			t.Errorf("%q: got %v, %v", url, s, err)
		}
	}
	for range 2 {
		if s, err := open("http://none"); s != nil || err == nil {
			t.Errorf("got %v, %v", s, err)
		}
	}
}
