package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// kubeconfig writes the fixture with a current context, and loads it as the
// commands do.
func kubeconfig(t *testing.T, current string) (KubeConfig, string) {
	t.Helper()
	data, err := os.ReadFile("testdata/kubeconfig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if current != "" {
		data = append(data, "current-context: "+current+"\n"...)
	}
	return load(t, string(data))
}

func load(t *testing.T, text string) (KubeConfig, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig = &path
	return flags.ToRawKubeConfigLoader(), path
}

type variables map[string]string

func (v variables) get(name string) string { return v[name] }

const (
	ctxMain = "gke_acme-ml_us-central1-a_main"
	ctxBig  = "gke_acme-ml_europe-west4-b_big"
	ctxLone = "gke_lone-ml_us-central1-a_kinetic-cluster"
)

func TestResolve(t *testing.T) {
	tests := map[string]struct {
		current string
		flags   Flags
		env     variables
		want    Target
	}{
		"the current context says it all": {ctxMain, Flags{}, nil, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"context " + ctxMain, "context " + ctxMain, "context " + ctxMain, "current context", "context " + ctxMain, "default"}}.target()},
		"a renamed context": {"production", Flags{}, nil, whole{
			"acme-ml", "us-east5", "prod", "production", "prod", true, "gs://acme-ml-kn-prod-jobs",
			Sources{"context production", "context production", "context production", "current context", "context production", "default"}}.target()},
		"a cluster elsewhere and a project": {"kind-dev", Flags{}, variables{"KINETIC_PROJECT": "lone-ml"}, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", "kind-dev", "sandbox", false, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{"KINETIC_PROJECT", "default", "default", "current context", "context kind-dev", "default"}}.target()},
		"a cluster elsewhere and a store": {"kind-dev", Flags{Store: "gs://bucket/team/"}, nil, whole{
			"", "us-central1-a", "kinetic-cluster", "kind-dev", "sandbox", false, "gs://bucket/team",
			Sources{"", "default", "default", "current context", "context kind-dev", "--store"}}.target()},
		"flags come first": {ctxMain, Flags{Project: "acme-ml", Zone: "europe-west4-b", Cluster: "big", Store: "gs://one", Namespace: "team"},
			variables{"KINETIC_PROJECT": "other-ml", "KINETIC_ZONE": "us-west1-a", "KINETIC_CLUSTER": "other", "KINETIC_STORE": "gs://two", "KINETIC_NAMESPACE": "their"}, whole{
				"acme-ml", "europe-west4-b", "big", ctxBig, "team", true, "gs://one",
				Sources{"--project", "--zone", "--cluster", "project, zone and cluster", "--namespace", "--store"}}.target()},
		"then variables": {ctxMain, Flags{},
			variables{"KINETIC_PROJECT": "acme-ml", "KINETIC_ZONE": "europe-west4-b", "KINETIC_CLUSTER": "big", "KINETIC_STORE": "gs://two", "KINETIC_NAMESPACE": "their"}, whole{
				"acme-ml", "europe-west4-b", "big", ctxBig, "their", true, "gs://two",
				Sources{"KINETIC_PROJECT", "KINETIC_ZONE", "KINETIC_CLUSTER", "project, zone and cluster", "KINETIC_NAMESPACE", "KINETIC_STORE"}}.target()},
		"what is not set comes from the context": {ctxMain, Flags{Zone: "europe-west4-b"}, variables{"KINETIC_CLUSTER": "big"}, whole{
			"acme-ml", "europe-west4-b", "big", ctxBig, "default", true, "gs://acme-ml-kn-big-jobs",
			Sources{"context " + ctxMain, "--zone", "KINETIC_CLUSTER", "project, zone and cluster", "default", "default"}}.target()},
		"the same cluster said twice": {ctxMain, Flags{Cluster: "main"}, variables{"KINETIC_PROJECT": "acme-ml"}, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"KINETIC_PROJECT", "context " + ctxMain, "--cluster", "current context", "context " + ctxMain, "default"}}.target()},
		"another cluster under a renamed context": {ctxMain, Flags{Zone: "us-east5", Cluster: "prod"}, nil, whole{
			"acme-ml", "us-east5", "prod", "production", "prod", true, "gs://acme-ml-kn-prod-jobs",
			Sources{"context " + ctxMain, "--zone", "--cluster", "project, zone and cluster", "context production", "default"}}.target()},
		"from elsewhere to GKE": {"kind-dev", Flags{Cluster: "kinetic-cluster"}, variables{"KINETIC_PROJECT": "lone-ml"}, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "default", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{"KINETIC_PROJECT", "default", "--cluster", "project, zone and cluster", "default", "default"}}.target()},
		"no current context, a project": {"", Flags{Project: "lone-ml"}, nil, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "default", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{"--project", "default", "default", "project, zone and cluster", "default", "default"}}.target()},
		"a current context that is gone, a project": {"gone", Flags{Project: "lone-ml"}, nil, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "default", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{"--project", "default", "default", "project, zone and cluster", "default", "default"}}.target()},
		"--context counts before variables": {"kind-dev", Flags{Context: ctxMain}, variables{"KINETIC_PROJECT": "other-ml", "KINETIC_CLUSTER": "other"}, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"context " + ctxMain, "context " + ctxMain, "context " + ctxMain, "--context", "context " + ctxMain, "default"}}.target()},
		"--context and flags that agree": {"kind-dev", Flags{Context: ctxMain, Project: "acme-ml", Cluster: "main"}, nil, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"--project", "context " + ctxMain, "--cluster", "--context", "context " + ctxMain, "default"}}.target()},
		"--context elsewhere, flags for the store": {ctxMain, Flags{Context: "kind-dev", Project: "acme-ml", Cluster: "big"}, nil, whole{
			"acme-ml", "us-central1-a", "big", "kind-dev", "sandbox", true, "gs://acme-ml-kn-big-jobs",
			Sources{"--project", "default", "--cluster", "--context", "context kind-dev", "default"}}.target()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			checkResolve(t, tt.current, tt.flags, tt.env, tt.want)
		})
	}
}

// checkResolve checks what flags and variables resolve to with a current context, for every need, and that the kubeconfig stays.
func checkResolve(t *testing.T, current string, flags Flags, env variables, want Target) {
	t.Helper()
	config, path := kubeconfig(t, current)
	before, _ := os.ReadFile(path)
	for _, need := range []Need{{Cluster: true}, {}} {
		got, err := Resolve(flags, env.get, config, need)
		if err != nil {
			t.Fatalf("%+v: %v", need, err)
		}
		got.Assumed = false // TestAssumed is about that
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", need, diff)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the kubeconfig was changed: %v", err)
	}
}

// Node pools are removed by what jobs a context has: it must be known to lead to their cluster.
func TestAssumed(t *testing.T) {
	for name, tt := range map[string]struct {
		current string
		flags   Flags
		env     variables
		want    bool
	}{
		"the current context's own name":      {ctxMain, Flags{}, nil, false},
		"the name of its cluster":             {"production", Flags{}, nil, false},
		"a project for another kind":          {"kind-dev", Flags{Project: "acme-ml"}, nil, true},
		"a variable for another kind":         {"kind-dev", Flags{}, variables{"KINETIC_PROJECT": "acme-ml"}, true},
		"a context that somebody named":       {ctxMain, Flags{Context: "kind-dev", Project: "acme-ml"}, nil, false},
		"the context of a cluster named here": {"kind-dev", Flags{Project: "acme-ml", Cluster: "main"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			config, _ := kubeconfig(t, tt.current)
			got, err := Resolve(tt.flags, tt.env.get, config, Need{Cluster: true})
			if err != nil || got.Assumed != tt.want {
				t.Errorf("context %s is assumed: %v, %v; want %v", got.Context, got.Assumed, err, tt.want)
			}
		})
	}
}

// What only a submit needs must not stop a dry-run.
func TestResolveWithoutACluster(t *testing.T) {
	const credentials = "`gcloud container clusters get-credentials "
	tests := map[string]struct {
		current string
		flags   Flags
		env     variables
		want    Target // in a dry-run, without From
		submit  string // in the error otherwise
	}{
		"another cluster that the kubeconfig has not": {ctxMain, Flags{Cluster: "new"}, nil,
			Target{Project: "acme-ml", Zone: "us-central1-a", Cluster: "new", Namespace: "default", Store: "gs://acme-ml-kn-new-jobs"},
			"no context gke_acme-ml_us-central1-a_new: get one with " + credentials + "new --zone us-central1-a --project acme-ml`"},
		"one by a variable": {ctxMain, Flags{}, variables{"KINETIC_PROJECT": "new-ml"},
			Target{Project: "new-ml", Zone: "us-central1-a", Cluster: "main", Namespace: "default", Store: "gs://new-ml-kn-main-jobs"},
			credentials + "main --zone us-central1-a --project new-ml`"},
		"one in a region": {ctxMain, Flags{Zone: "us-west1"}, nil,
			Target{Project: "acme-ml", Zone: "us-west1", Cluster: "main", Namespace: "default", Store: "gs://acme-ml-kn-main-jobs"},
			credentials + "main --region us-west1 --project acme-ml`"},
		"the right cluster, the wrong zone": {ctxMain, Flags{Cluster: "big"}, nil,
			Target{Project: "acme-ml", Zone: "us-central1-a", Cluster: "big", Namespace: "default", Store: "gs://acme-ml-kn-big-jobs"},
			"or did you mean --context alias-of-big or " + ctxBig + "?"},
		"a cluster without a project": {"kind-dev", Flags{Cluster: "new", Store: "gs://bucket"}, nil,
			Target{Zone: "us-central1-a", Cluster: "new", Namespace: "default", Store: "gs://bucket"},
			"no context for cluster new in us-central1-a, and its project is not known: set --project or KINETIC_PROJECT"},
		"no current context": {"", Flags{Store: "gs://bucket"}, nil,
			Target{Zone: "us-central1-a", Cluster: "kinetic-cluster", Namespace: "default", Store: "gs://bucket"},
			"no current context: choose or create a cluster"},
		"a current context that is gone": {"kind-deb", Flags{Store: "gs://bucket"}, nil,
			Target{Zone: "us-central1-a", Cluster: "kinetic-cluster", Namespace: "default", Store: "gs://bucket"},
			`current context kind-deb: the kubeconfig has no context of that name: did you mean "kind-dev"?`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config, _ := kubeconfig(t, tt.current)
			got, err := Resolve(tt.flags, tt.env.get, config, Need{})
			if err != nil {
				t.Fatal(err)
			}
			got.From = Sources{}
			tt.want.GKE = true // for want of another
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			_, err = Resolve(tt.flags, tt.env.get, config, Need{Cluster: true})
			if err == nil || !strings.Contains(err.Error(), tt.submit) {
				t.Errorf("got %v, want %q in it", err, tt.submit)
			}
		})
	}
}

func TestResolveWithoutAKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "gone"))
	config := genericclioptions.NewConfigFlags(false).ToRawKubeConfigLoader()
	got, err := Resolve(Flags{Project: "acme-ml"}, variables{}.get, config, Need{})
	if err != nil || got.Store != "gs://acme-ml-kn-kinetic-cluster-jobs" || got.Context != "" || got.Namespace != "default" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = Resolve(Flags{Project: "acme-ml"}, variables{}.get, config, Need{Cluster: true})
	if err == nil || !strings.Contains(err.Error(), "get-credentials kinetic-cluster --zone us-central1-a --project acme-ml`") {
		t.Errorf("got %v", err)
	}
	_, err = Resolve(Flags{Context: "x"}, variables{}.get, config, Need{})
	if err == nil || !strings.Contains(err.Error(), "--context x: the kubeconfig has no context of that name, nor any other: name the file with --kubeconfig") {
		t.Errorf("got %v", err)
	}
}

func TestResolveRejects(t *testing.T) {
	tests := map[string]struct {
		flags Flags
		env   variables
		want  string
	}{
		"neither project nor store":        {Flags{Context: "kind-dev"}, nil, "set the project with --project or KINETIC_PROJECT, or name a bucket with --store or KINETIC_STORE"},
		"a context nearly right":           {Flags{Context: "kind-deb"}, nil, `--context kind-deb: the kubeconfig has no context of that name: did you mean "kind-dev"?`},
		"a context like nothing here":      {Flags{Context: "zzz"}, nil, "--context zzz: the kubeconfig has no context of that name; list them with `kubectl config get-contexts`"},
		"--context and another cluster":    {Flags{Context: ctxMain, Cluster: "big"}, nil, "--cluster big contradicts --context " + ctxMain + ", which has main"},
		"--context and another project":    {Flags{Context: "production", Project: "other-ml"}, nil, "--project other-ml contradicts --context production, which has acme-ml"},
		"a project with capitals":          {Flags{Project: "My Project"}, nil, `--project "My Project": expected a project id`},
		"a project's number":               {Flags{}, variables{"KINETIC_PROJECT": "1234567890"}, `KINETIC_PROJECT "1234567890": expected a project id`},
		"no zone":                          {Flags{Zone: "-a"}, nil, `--zone "-a": expected a zone or region`},
		"a cluster with an underscore":     {Flags{}, variables{"KINETIC_CLUSTER": "my_cluster"}, `KINETIC_CLUSTER "my_cluster": expected at most 40 lower-case letters`},
		"a namespace with dots":            {Flags{Namespace: "a.b"}, nil, `--namespace "a.b": not a namespace: `},
		"a namespace with capitals":        {Flags{}, variables{"KINETIC_NAMESPACE": "Team"}, `KINETIC_NAMESPACE "Team": not a namespace: expected at most 63 lower-case letters, digits and '-', with a letter or digit first and last`},
		"a directory":                      {Flags{Store: "file:///tmp/x"}, nil, "--store file:///tmp/x: pods can't access a local directory: use a bucket, gs://BUCKET"},
		"a directory by a variable":        {Flags{}, variables{"KINETIC_STORE": "file:///tmp/x"}, "KINETIC_STORE file:///tmp/x: pods can't access a local directory: use a bucket"},
		"a bucket without gs://":           {Flags{Store: "bucket"}, nil, "--store bucket: expected gs://BUCKET or gs://BUCKET/PREFIX"},
		"a default store that is too long": {Flags{Context: "kind-dev", Project: "acme-ml-with-a-long-name-12345", Cluster: "a-cluster-with-a-name-almost-as-long-1"}, nil, "named after project and cluster: "},
		"one with a domain in its project": {Flags{Context: "kind-dev", Project: "example.com:acme"}, nil, "name another with --store or KINETIC_STORE"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config, _ := kubeconfig(t, ctxMain)
			got, err := Resolve(tt.flags, tt.env.get, config, Need{})
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
		})
	}
}

// Jobs that exist tell their stores; one that is named is still checked.
func TestResolveForJobsNeedsNoStore(t *testing.T) {
	config, _ := kubeconfig(t, ctxMain)
	got, err := Resolve(Flags{Context: "kind-dev"}, variables{}.get, config, Need{Cluster: true, Jobs: true})
	if err != nil || got.Store != "" || got.From.Store != "" || got.Context != "kind-dev" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := Resolve(Flags{Context: "kind-dev", Store: "bucket"}, variables{}.get, config, Need{Cluster: true, Jobs: true}); err == nil {
		t.Error("a store that is none: no error")
	}
}

// Pods of GKE have credentials of their own.
func TestGKEIsTold(t *testing.T) {
	tests := map[string]struct {
		name, cluster, server string // of the context
		flags                 Flags
		want                  bool
	}{
		"by the context's name":         {name: "gke_p_us-central1-a_c", cluster: "x", server: "https://10.0.0.1", want: true},
		"by the cluster's name":         {name: "mine", cluster: "gke_p_us-central1-a_c", server: "https://10.0.0.1", want: true},
		"by the host":                   {name: "mine", cluster: "x", server: "https://gke-12ab-345.us-central1.gke.goog", want: true},
		"by a project of the user":      {name: "mine", cluster: "x", server: "https://10.0.0.1", flags: Flags{Project: "p"}, want: true},
		"by --server":                   {name: "mine", cluster: "x", server: "https://10.0.0.1", flags: Flags{Server: "https://gke-12ab-345.us-central1.gke.goog"}, want: true},
		"an address tells nothing":      {name: "mine", cluster: "x", server: "https://10.0.0.1"},
		"nor does a name that is alike": {name: "gke-dev", cluster: "x", server: "https://gke.goog.example.com"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config, _ := load(t, fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: %s\ncontexts: [{name: %s, context: {cluster: %s}}]\nclusters: [{name: %s, cluster: {server: '%s'}}]\n",
				tt.name, tt.name, tt.cluster, tt.cluster, tt.server))
			tt.flags.Store = "gs://bucket"
			got, err := Resolve(tt.flags, variables{"HOME": t.TempDir()}.get, config, Need{Cluster: true})
			if err != nil {
				t.Fatal(err)
			}
			if got.GKE != tt.want {
				t.Errorf("got %v, want %v", got.GKE, tt.want)
			}
		})
	}
}

const fixConfig = ": fix the file, or name another with --kubeconfig or KUBECONFIG"

func TestResolveRejectsABrokenKubeconfig(t *testing.T) {
	for name, text := range map[string]string{"no YAML": "{", "no kubeconfig": "apiVersion: v1\nkind: Pod\n"} {
		t.Run(name, func(t *testing.T) {
			config, path := load(t, text)
			_, err := Resolve(Flags{Project: "acme-ml"}, variables{}.get, config, Need{})
			if err == nil || !strings.HasPrefix(err.Error(), "reading the kubeconfig: ") || !strings.Contains(err.Error(), path) || !strings.HasSuffix(err.Error(), fixConfig) {
				t.Errorf("got %v, want the path %s in it, and what to do", err, path)
			}
		})
	}
	t.Run("a --kubeconfig that is not there", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "gone")
		flags := genericclioptions.NewConfigFlags(false)
		flags.KubeConfig = &path
		_, err := Resolve(Flags{Project: "acme-ml"}, variables{}.get, flags.ToRawKubeConfigLoader(), Need{})
		if err == nil || !strings.Contains(err.Error(), path) || !strings.HasSuffix(err.Error(), fixConfig) {
			t.Errorf("got %v, want the path %s in it, and what to do", err, path)
		}
	})
}

func TestResolveLocal(t *testing.T) {
	tests := map[string]struct {
		flags Flags
		env   variables
		want  Target
	}{
		"the user's own": {Flags{}, variables{"HOME": "/home/me"}, Target{Store: "file:///home/me/.local/share/kinetic/store", From: Sources{Store: "default"}}},
		"--store":        {Flags{Store: "file:///tmp/a/../x/"}, variables{"KINETIC_STORE": "gs://bucket"}, Target{Store: "file:///tmp/x", From: Sources{Store: "--store"}}},
		"a bucket in KINETIC_STORE is for clusters": {Flags{}, variables{"KINETIC_STORE": "gs://bucket", "XDG_DATA_HOME": "/data"}, Target{Store: "file:///data/kinetic/store", From: Sources{Store: "default"}}},
		"KINETIC_STORE":   {Flags{}, variables{"KINETIC_STORE": "file:///tmp/y"}, Target{Store: "file:///tmp/y", From: Sources{Store: "KINETIC_STORE"}}},
		"GKE has no part": {Flags{Project: "acme-ml", Store: "file:///x"}, variables{"KINETIC_ZONE": "?"}, Target{Store: "file:///x", From: Sources{Store: "--store"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Resolve(tt.flags, tt.env.get, nil, Need{Local: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := Resolve(Flags{}, variables{"KINETIC_STORE": "/tmp"}.get, nil, Need{Local: true}); err == nil || !strings.HasPrefix(err.Error(), "KINETIC_STORE /tmp: expected ") {
		t.Errorf("got %v", err)
	}
	if _, err := Resolve(Flags{Store: "gs://bucket"}, variables{}.get, nil, Need{Local: true}); err == nil || !strings.Contains(err.Error(), "--store gs://bucket: a local job") {
		t.Errorf("got %v", err)
	}
	if _, err := Resolve(Flags{}, variables{}.get, nil, Need{Local: true}); err == nil || !strings.Contains(err.Error(), "neither XDG_DATA_HOME nor HOME") {
		t.Errorf("got %v", err)
	}
}
