package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// What gcloud, kind and older tools write, with one context for each way to log in.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: kind-dev
clusters:
- name: gke_acme-ml_us-central1-a_main
  cluster: {server: "https://192.0.2.1"}
- name: kind-dev
  cluster: {server: "https://127.0.0.1:6443"}
contexts:
- name: gke_acme-ml_us-central1-a_main
  context: {cluster: gke_acme-ml_us-central1-a_main, user: token, namespace: research}
- name: kind-dev
  context: {cluster: kind-dev, user: token}
- name: plugin
  context: {cluster: kind-dev, user: plugin}
- name: hinted
  context: {cluster: kind-dev, user: hinted}
- name: path
  context: {cluster: kind-dev, user: path}
- name: old
  context: {cluster: kind-dev, user: old}
- name: nowhere
  context: {cluster: nowhere, user: token}
- name: unfinished
  context: {user: token}
- name: certificate
  context: {cluster: kind-dev, user: certificate}
users:
- name: token
  user: {token: secret}
- name: plugin
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: gke-gcloud-auth-plugin, installHint: "a link", interactiveMode: IfAvailable}}
- name: hinted
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: some-plugin, installHint: "get it\nfrom \e[1msomewhere", interactiveMode: IfAvailable}}
- name: path
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/some-plugin, interactiveMode: IfAvailable}}
- name: old
  user: {auth-provider: {name: gcp}}
- name: certificate
  user: {client-certificate: /nowhere/client.crt, client-key: /nowhere/client.key}
`

// connect parses connection flags on a machine with this kubeconfig and no
// profiles.
func connect(t *testing.T, text string, args ...string) (*Flags, string) {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": home, "KUBECONFIG": path, "PATH": home,
		"KINETIC_PROJECT": "", "KINETIC_STORE": "gs://bucket", "KUBERNETES_SERVICE_HOST": "", "KUBERNETES_SERVICE_PORT": ""} {
		t.Setenv(name, value)
	}
	c := NewFlags()
	if err := c.Section().Flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c, path
}

func TestREST(t *testing.T) {
	tests := map[string]struct {
		args []string
		host string
		user string // impersonated
	}{
		"the current context":       {nil, "https://127.0.0.1:6443", ""},
		"another one":               {[]string{"--context", "gke_acme-ml_us-central1-a_main"}, "https://192.0.2.1", ""},
		"one that a cluster chose":  {[]string{"--project", "acme-ml", "--cluster", "main"}, "https://192.0.2.1", ""},
		"kubectl's flags go before": {[]string{"-s", "https://192.0.2.9", "--as", "me"}, "https://192.0.2.9", "me"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, path := connect(t, kubeconfig, tt.args...)
			where, err := c.ResolveCluster()
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.REST(where)
			if err != nil {
				t.Fatal(err)
			}
			if got.Host != tt.host || got.Impersonate.UserName != tt.user || got.BearerToken != "secret" {
				t.Errorf("got %s as %q with %q, want %s as %q", got.Host, got.Impersonate.UserName, got.BearerToken, tt.host, tt.user)
			}
			if got.QPS >= 0 || !strings.HasPrefix(got.UserAgent, "kubectl-kinetic/") {
				t.Errorf("got QPS %v, user agent %q", got.QPS, got.UserAgent)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != kubeconfig {
				t.Errorf("the kubeconfig was changed: %v", err)
			}
			if again, err := c.ResolveCluster(); err != nil || again != where {
				t.Errorf("resolved %+v, then %+v, %v", where, again, err)
			}
		})
	}
}

func TestRESTRejects(t *testing.T) {
	const plugin = "its credentials come from gke-gcloud-auth-plugin, which is not installed or not on PATH: " +
		"install it with `gcloud components install gke-gcloud-auth-plugin`, or where gcloud is a Debian package `sudo apt-get install google-cloud-cli-gke-gcloud-auth-plugin`"
	tests := map[string]struct{ context, want string }{
		"GKE's plugin is missing":         {"plugin", "the cluster of context plugin: " + plugin},
		"another plugin, with a hint":     {"hinted", `some-plugin, which is not installed or not on PATH: get it from U+001B[1msomewhere`},
		"another plugin, without one":     {"path", "/nowhere/some-plugin, which is not installed or not on PATH: install it, or fix users[].user.exec.command"},
		"credentials of long ago":         {"old", "auth-provider of type gcp, which Kubernetes no longer supports: install it with `gcloud components"},
		"a cluster that is not there":     {"nowhere", "the context names the cluster nowhere, which is not in the kubeconfig: fix the kubeconfig, or choose another context with --context"},
		"a context without a cluster":     {"unfinished", "the cluster of context unfinished: the context has no cluster: fix the kubeconfig, or choose another context with --context"},
		"a certificate that is not there": {"certificate", "unable to read client-cert /nowhere/client.crt"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, _ := connect(t, kubeconfig, "--context", tt.context)
			where, err := c.ResolveCluster()
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.REST(where)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q in it", err, tt.want)
			}
			if cli.CodeOf(err) != cli.ExitUsage {
				t.Errorf("got exit code %d", cli.CodeOf(err))
			}
		})
	}
	t.Run("--token goes before a plugin", func(t *testing.T) {
		c, _ := connect(t, kubeconfig, "--context", "plugin", "--token", "mine")
		if got, err := c.REST(config.Target{Context: "plugin"}); err != nil || got.BearerToken != "mine" {
			t.Errorf("got %v", err)
		}
	})
}

func TestRESTWithoutAContext(t *testing.T) {
	t.Run("by address", func(t *testing.T) {
		c, _ := connect(t, "", "--server", "https://192.0.2.7", "--token", "mine")
		where, err := c.ResolveCluster()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.REST(where); err != nil || got.Host != "https://192.0.2.7" || got.BearerToken != "mine" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a pod without a service account", func(t *testing.T) {
		c, _ := connect(t, "")
		t.Setenv("KUBERNETES_SERVICE_HOST", "192.0.2.1")
		t.Setenv("KUBERNETES_SERVICE_PORT", "443")
		where, err := c.ResolveCluster()
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.REST(where); err == nil || !strings.Contains(err.Error(), "the cluster of "+config.InPod+": no kubeconfig and no service account token") {
			t.Errorf("got %v", err)
		}
	})
}

func TestGivenFlagsCanBePasted(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"none":                             {nil, ""},
		"a namespace, which every job has": {[]string{"-n", "ml"}, ""},
		"a context and a store":            {[]string{"--context", "kind-dev", "--store", "gs://b/p"}, " --context=kind-dev --store=gs://b/p"},
		"what a shell would take apart":    {[]string{"--context", "it's $HOME"}, ` --context='it'\''s $HOME'`},
		"never a password":                 {[]string{"--token", "hush"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := connect(t, kubeconfig, tt.args...)
			if got := c.Given(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestChooseCluster(t *testing.T) {
	for flag, want := range map[string]bool{
		"--kubeconfig=/some/file": true, "--context=kind-dev": true, "--server=https://192.0.2.1": true, "--namespace=ml": true,
		"--project=acme": true, "--zone=us-central1-a": true, "--cluster=main": true, "--profile=team": true,
		"": false, "--store=gs://other": false, "--user=token": false, "--token=secret": false, "--request-timeout=5s": false, "--insecure-skip-tls-verify": false,
	} {
		args := []string{flag}
		if flag == "" {
			args = nil
		}
		if c, _ := connect(t, kubeconfig, args...); c.ChooseCluster() != want {
			t.Errorf("%s: got %v, want %v", flag, !want, want)
		}
	}
}
