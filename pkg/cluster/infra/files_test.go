package infra

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

const name = "gke_acme_us-central1-a_research"

const others = `apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: {cluster: dev, user: dev}
clusters:
- name: dev
  cluster: {server: https://dev.example.com}
users:
- name: dev
  user: {token: secret}
`

func kubeconfig(t *testing.T, servers ...Server) *Context {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(others), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
	return &Context{Access: rules, Name: name, Find: func(context.Context) ([]Server, error) { return servers, nil }}
}

func state(t *testing.T, a Actor) State {
	t.Helper()
	s, err := a.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContext(t *testing.T) {
	c := kubeconfig(t, Server{URL: "https://203.0.113.10", Authority: []byte("certificate")})
	if s := state(t, c); s.Exists {
		t.Errorf("before: %+v", s)
	}
	if err := c.Ensure(t.Context(), State{}); err != nil {
		t.Fatal(err)
	}
	if s := state(t, c); !s.Exists || s.Missing != nil {
		t.Errorf("after: %+v", s)
	}
	config, err := c.Access.GetStartingConfig()
	if err != nil {
		t.Fatal(err)
	}
	if config.CurrentContext != "dev" || config.AuthInfos["dev"].Token != "secret" {
		t.Error("something else was changed")
	}
	if user := config.AuthInfos[config.Contexts[name].AuthInfo]; user.Exec == nil || user.Exec.Command != "gke-gcloud-auth-plugin" || !user.Exec.ProvideClusterInfo {
		t.Errorf("the user is %+v", user)
	}
	for range 2 {
		if err := c.Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s := state(t, c); s.Exists {
		t.Errorf("deleted: %+v", s)
	}
}

// An entry that leads to the cluster stays as someone has written it. In another, only what is wrong is changed.
func TestContextThatExists(t *testing.T) {
	servers := []Server{{URL: "https://gke-1.us-central1.gke.goog"}, {URL: "https://203.0.113.10", Authority: []byte("certificate")}}
	own := func(change func(*clientcmdapi.Config)) *clientcmdapi.Config {
		config := clientcmdapi.NewConfig()
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "ml"}
		config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://203.0.113.10", CertificateAuthorityData: []byte("certificate"), ProxyURL: "http://proxy:3128", TLSServerName: "kubernetes"}
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: "mine"}
		change(config)
		return config
	}
	as := func(url string, authority []byte) func(*clientcmdapi.Config) {
		return func(c *clientcmdapi.Config) {
			c.Clusters[name].Server, c.Clusters[name].CertificateAuthorityData = url, authority
		}
	}
	same := func(*clientcmdapi.Config) {}
	closing := Server{URL: "https://203.0.113.10", Authority: []byte("certificate"), Closing: true}
	for title, tt := range map[string]struct {
		before      func(*clientcmdapi.Config)
		servers     []Server
		missing     []string
		differences []Difference
		after       func(*clientcmdapi.Config)
	}{
		"by address":              {same, servers, nil, nil, same},
		"by name":                 {as("https://gke-1.us-central1.gke.goog", nil), servers, nil, nil, as("https://gke-1.us-central1.gke.goog", nil)},
		"by name through a proxy": {as("https://gke-1.us-central1.gke.goog", []byte("proxy")), servers, nil, nil, as("https://gke-1.us-central1.gke.goog", []byte("proxy"))},
		"with a port":             {as("https://203.0.113.10:443/", []byte("certificate")), servers, nil, nil, as("https://203.0.113.10:443/", []byte("certificate"))},
		"another address": {as("https://203.0.113.9", []byte("old")), servers, nil,
			[]Difference{{Setting: "address", Have: "https://203.0.113.9", Want: "https://gke-1.us-central1.gke.goog"}}, as("https://gke-1.us-central1.gke.goog", nil)},
		"an address that is to be closed": {same, []Server{servers[0], closing}, nil,
			[]Difference{{Setting: "address", Have: "https://203.0.113.10", Want: "https://gke-1.us-central1.gke.goog"}}, as("https://gke-1.us-central1.gke.goog", nil)},
		"the first address is to be closed": {same, []Server{closing, servers[0]}, nil,
			[]Difference{{Setting: "address", Have: "https://203.0.113.10", Want: "https://gke-1.us-central1.gke.goog"}}, as("https://gke-1.us-central1.gke.goog", nil)},
		"another certificate": {as("https://203.0.113.10", []byte("old")), servers, nil,
			[]Difference{{Setting: "certificate", Have: "another", Want: "that of the cluster"}}, same},
		"of a deleted cluster": {as("https://203.0.113.9", []byte("old")), nil, []string{"the cluster's address"}, nil, as("https://gke-1.us-central1.gke.goog", nil)},
		"no user": {func(c *clientcmdapi.Config) { delete(c.AuthInfos, name) }, servers, []string{"the credentials"}, nil,
			func(c *clientcmdapi.Config) { c.AuthInfos[name] = newUser() }},
		"no cluster": {func(c *clientcmdapi.Config) { delete(c.Clusters, name) }, servers, []string{"the cluster's address"}, nil,
			func(c *clientcmdapi.Config) {
				c.Clusters[name] = &clientcmdapi.Cluster{Server: "https://gke-1.us-central1.gke.goog"}
			}},
		"a renamed context": {func(c *clientcmdapi.Config) { delete(c.Contexts, name) }, servers, []string{"the context"}, nil,
			func(c *clientcmdapi.Config) { c.Contexts[name].Namespace = "" }},
		"someone else's cluster": {func(c *clientcmdapi.Config) {
			c.Contexts[name].Cluster, c.Clusters["theirs"] = "theirs", &clientcmdapi.Cluster{Server: "https://203.0.113.9"}
		}, servers, nil, []Difference{{Setting: "address", Have: "https://203.0.113.9", Want: "https://gke-1.us-central1.gke.goog"}},
			func(c *clientcmdapi.Config) {
				c.Clusters["theirs"] = &clientcmdapi.Cluster{Server: "https://203.0.113.9"}
				as("https://203.0.113.10", []byte("certificate"))(c)
			}},
	} {
		t.Run(title, func(t *testing.T) {
			c := kubeconfig(t, tt.servers...)
			if err := clientcmd.WriteToFile(*own(tt.before), c.Access.GetDefaultFilename()); err != nil {
				t.Fatal(err)
			}
			have := state(t, c)
			if want := (State{Exists: true, Missing: tt.missing, Differences: tt.differences}); !reflect.DeepEqual(have, want) {
				t.Errorf("got %+v, want %+v", have, want)
			}
			if tt.servers == nil {
				c.Find = func(context.Context) ([]Server, error) { return servers, nil }
			}
			check := func(want *clientcmdapi.Config) {
				t.Helper()
				got, err := clientcmd.LoadFromFile(c.Access.GetDefaultFilename())
				if err != nil {
					t.Fatal(err)
				}
				wanted, err := clientcmd.Write(*want)
				if err != nil {
					t.Fatal(err)
				}
				written, err := clientcmd.Write(*got)
				if err != nil || string(written) != string(wanted) {
					t.Errorf("%v, got\n%s\nwant\n%s", err, written, wanted)
				}
			}
			if len(have.Missing) == 0 { // without --reconcile
				if err := c.Ensure(t.Context(), State{Exists: true}); err != nil {
					t.Fatal(err)
				}
				check(own(tt.before))
			}
			if err := c.Ensure(t.Context(), have); err != nil {
				t.Fatal(err)
			}
			check(own(tt.after))
			if s := state(t, c); s.Missing != nil || s.Differences != nil {
				t.Errorf("after: %+v", s)
			}
		})
	}
}

// A current context that was deleted would make every later kubectl fail. Another one stays, in whichever file it is.
func TestDeleteTheCurrentContext(t *testing.T) {
	write := func(current string) string {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(strings.Replace(others, "current-context: dev", "current-context: "+current, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for title, tt := range map[string]struct {
		first, second string
		want          []string
	}{
		"ours":                {name, `""`, []string{"", ""}},
		"ours in two files":   {name, name, []string{"", ""}},
		"ours in the second":  {`""`, name, []string{"", ""}},
		"another":             {"dev", `""`, []string{"dev", ""}},
		"another in a second": {name, "dev", []string{"", "dev"}},
	} {
		t.Run(title, func(t *testing.T) {
			paths := []string{write(tt.first), write(tt.second)}
			c := kubeconfig(t, Server{URL: "https://203.0.113.10"})
			c.Access = &clientcmd.ClientConfigLoadingRules{Precedence: paths}
			if err := c.Ensure(t.Context(), State{}); err != nil {
				t.Fatal(err)
			}
			if err := c.Delete(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i, path := range paths {
				got, err := clientcmd.LoadFromFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got.CurrentContext != tt.want[i] || got.Contexts[name] != nil || got.AuthInfos["dev"] == nil {
					t.Errorf("file %d has the current context %q, want %q", i, got.CurrentContext, tt.want[i])
				}
			}
		})
	}
}

// Another context, such as one that someone has renamed, may name the same cluster and user.
func TestDeleteKeepsWhatOtherContextsUse(t *testing.T) {
	c := kubeconfig(t, Server{URL: "https://203.0.113.10"})
	if err := c.Ensure(t.Context(), State{}); err != nil {
		t.Fatal(err)
	}
	change := func(change func(*clientcmdapi.Config)) {
		t.Helper()
		if err := edit(t.Context(), c.Access, change); err != nil {
			t.Fatal(err)
		}
	}
	change(func(config *clientcmdapi.Config) {
		config.Contexts["mine"] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	})
	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := c.Access.GetStartingConfig()
	if err != nil || got.Contexts[name] != nil || got.Contexts["mine"] == nil || got.Clusters[name] == nil || got.AuthInfos[name] == nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if s := state(t, c); s.Kept != "context mine uses its cluster" {
		t.Errorf("got %+v", s)
	}
	change(func(config *clientcmdapi.Config) { delete(config.Contexts, "mine") })
	if s := state(t, c); s.Kept != "" {
		t.Errorf("then %+v", s)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err = c.Access.GetStartingConfig()
	if err != nil || got.Clusters[name] != nil || got.AuthInfos[name] != nil || got.Contexts["dev"] == nil {
		t.Errorf("then %+v, %v", got, err)
	}
}

// Several commands write at once, as kubectl does: each waits for the others, and none loses what they wrote.
func TestContextsAtOnce(t *testing.T) {
	first := kubeconfig(t, Server{URL: "https://203.0.113.10"})
	const n = 10
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			c := *first
			c.Name = fmt.Sprintf("gke_acme_us-central1-a_%d", i)
			if err := c.Ensure(t.Context(), State{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	config, err := first.Access.GetStartingConfig()
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Contexts) != n+1 || len(config.Clusters) != n+1 || len(config.AuthInfos) != n+1 {
		t.Errorf("there are %d contexts, %d clusters and %d users, want %d of each", len(config.Contexts), len(config.Clusters), len(config.AuthInfos), n+1)
	}
}

// The error names a lock that a killed program has left.
func TestContextWithAnOldLock(t *testing.T) {
	c := kubeconfig(t, Server{URL: "https://203.0.113.10"})
	lock := c.Access.GetDefaultFilename() + ".lock"
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Ensure(ctx, State{}); err == nil || !strings.Contains(err.Error(), lock) {
		t.Errorf("got %v, want %s in it", err, lock)
	}
}

func TestProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profiles.json")
	env := func(name string) string {
		if name == "KINETIC_PROFILES_FILE" {
			return file
		}
		return ""
	}
	p := Profile{Env: env, Wanted: config.Profile{Name: "research", Project: "acme", Zone: "us-central1-a", Cluster: "research", Namespace: "ml"}}
	if s := state(t, p); s.Exists {
		t.Errorf("before: %+v", s)
	}
	if err := p.Ensure(t.Context(), State{}); err != nil {
		t.Fatal(err)
	}
	if s := state(t, p); !s.Exists || s.Differences != nil {
		t.Errorf("after: %+v", s)
	}
	other := p
	other.Wanted.Cluster = "production"
	if s := state(t, other); len(s.Differences) != 1 || !s.Differences[0].Fixed {
		t.Errorf("of another cluster: %+v", s)
	}
	if err := other.Ensure(t.Context(), State{}); err == nil || !strings.Contains(err.Error(), "it is for cluster research in us-central1-a of project acme") {
		t.Errorf("the profile of another cluster was replaced: %v", err)
	}
	if _, taken, err := other.Taken(); err != nil || !taken {
		t.Errorf("got %t, %v", taken, err)
	}
	elsewhere := p
	elsewhere.Wanted.Namespace = "prod"
	if s := state(t, elsewhere); len(s.Differences) != 1 || s.Differences[0].Fixed {
		t.Errorf("with another namespace: %+v", s)
	}
	if err := other.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := state(t, p); !s.Exists {
		t.Error("the profile of another cluster was removed")
	}
	for range 2 {
		if err := p.Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s := state(t, p); s.Exists {
		t.Error("the profile is still there")
	}
}
