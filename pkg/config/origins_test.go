package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Profiles of the fixture's clusters, and of one that the kubeconfig has not.
var profiles = map[string]map[string]string{
	"lone": {"project": "lone-ml", "zone": "us-central1-a", "cluster": "kinetic-cluster", "namespace": "alone"},
	"big":  {"project": "acme-ml", "zone": "europe-west4-b", "cluster": "big"},
	"new":  {"project": "acme-ml", "zone": "us-west1", "cluster": "new", "namespace": "new"},
	"kind": {"project": "none", "zone": "none", "cluster": "none", "namespace": "ml", "context": "kind-dev", "store": "gs://team"},
	"gone": {"project": "none", "zone": "none", "cluster": "none", "context": "kind-dv"},
	"far":  {"project": "acme-ml", "zone": "europe-west4-b", "cluster": "big", "store": "gs://far"},
	"odd":  {"project": "Acme", "zone": "us-west1", "cluster": "new", "namespace": "new"},
	"twin": {"project": "lone-ml", "zone": "asia-east1-c", "cluster": "main", "namespace": "theirs"},
	"near": {"project": "acme-ml", "zone": "asia-east1-c", "cluster": "main", "namespace": "theirs"},
	"dots": {"project": "acme-ml", "zone": "europe-west4-b", "cluster": "big", "namespace": "a.b"},
}

// home is a directory with profiles, one of them maybe current, and a gcloud
// configuration.
func home(t *testing.T, current string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := json.Marshal(map[string]any{"current": current, "profiles": profiles})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".kinetic", "profiles.json"), string(text))
	write(t, filepath.Join(dir, ".config", "gcloud", "configurations", "config_default"),
		"[core]\nproject = gcloud-ml\n[compute]\nzone = asia-east1-c\nregion = asia-east1\n[container]\ncluster = from-gcloud\n")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each value comes from the first origin that has it.
func TestPrecedence(t *testing.T) {
	const gcloud = "gcloud configuration default"
	lone := "context " + ctxLone
	tests := map[string]struct {
		current string // context
		profile string // current in the file
		flags   Flags
		env     variables
		want    Target
	}{
		"the current profile before the current context": {ctxMain, "lone", Flags{}, nil, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "alone", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{"profile lone", "profile lone", "profile lone", "project, zone and cluster", "profile lone", "default"}}.target()},
		"KINETIC_PROFILE before the current one": {ctxMain, "lone", Flags{}, variables{"KINETIC_PROFILE": "big"}, whole{
			"acme-ml", "europe-west4-b", "big", ctxBig, "default", true, "gs://acme-ml-kn-big-jobs",
			Sources{"profile big", "profile big", "profile big", "project, zone and cluster", "profile big", "default"}}.target()},
		"--profile before KINETIC_PROFILE": {ctxMain, "", Flags{Profile: "big"}, variables{"KINETIC_PROFILE": "lone"}, whole{
			"acme-ml", "europe-west4-b", "big", ctxBig, "default", true, "gs://acme-ml-kn-big-jobs",
			Sources{"profile big", "profile big", "profile big", "project, zone and cluster", "profile big", "default"}}.target()},
		"flags and variables before a profile": {ctxMain, "lone", Flags{Project: "acme-ml", Namespace: "team"},
			variables{"KINETIC_ZONE": "europe-west4-b", "KINETIC_CLUSTER": "big"}, whole{
				"acme-ml", "europe-west4-b", "big", ctxBig, "team", true, "gs://acme-ml-kn-big-jobs",
				Sources{"--project", "KINETIC_ZONE", "KINETIC_CLUSTER", "project, zone and cluster", "--namespace", "default"}}.target()},
		"a variable before --profile": {ctxMain, "", Flags{Profile: "lone"},
			variables{"KINETIC_PROJECT": "acme-ml", "KINETIC_CLUSTER": "main"}, whole{
				"acme-ml", "us-central1-a", "main", ctxMain, "alone", true, "gs://acme-ml-kn-main-jobs",
				Sources{"KINETIC_PROJECT", "profile lone", "KINETIC_CLUSTER", "current context", "profile lone", "default"}}.target()},
		"--context leaves the current profile out": {ctxMain, "big", Flags{Context: ctxLone}, variables{"KINETIC_PROFILE": "big"}, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "default", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{lone, lone, lone, "--context", "default", "default"}}.target()},
		"--context and --profile that agree": {ctxMain, "", Flags{Context: ctxLone, Profile: "lone"}, nil, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "alone", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{lone, lone, lone, "--context", "profile lone", "default"}}.target()},
		"--context elsewhere, --profile for the store": {ctxMain, "", Flags{Context: "kind-dev", Profile: "lone"}, nil, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", "kind-dev", "alone", false, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{"profile lone", "profile lone", "profile lone", "--context", "profile lone", "default"}}.target()},
		"the context before gcloud": {ctxLone, "", Flags{}, variables{"CLOUDSDK_CORE_PROJECT": "other-ml"}, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "default", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{lone, lone, lone, "current context", "default", "default"}}.target()},
		"a profile outside GKE": {ctxMain, "kind", Flags{}, variables{"CLOUDSDK_ACTIVE_CONFIG_NAME": "NONE"}, whole{
			"", "us-central1-a", "kinetic-cluster", "kind-dev", "ml", false, "gs://team",
			Sources{"", "default", "default", "profile kind", "profile kind", "profile kind"}}.target()},
		"a variable before the store of a profile": {ctxMain, "kind", Flags{}, variables{"CLOUDSDK_ACTIVE_CONFIG_NAME": "NONE", "KINETIC_STORE": "gs://mine"}, whole{
			"", "us-central1-a", "kinetic-cluster", "kind-dev", "ml", false, "gs://mine",
			Sources{"", "default", "default", "profile kind", "profile kind", "KINETIC_STORE"}}.target()},
		"another cluster than that of the profile outside GKE": {ctxMain, "kind", Flags{Project: "acme-ml", Zone: "europe-west4-b", Cluster: "big"}, nil, whole{
			"acme-ml", "europe-west4-b", "big", ctxBig, "default", true, "gs://acme-ml-kn-big-jobs",
			Sources{"--project", "--zone", "--cluster", "project, zone and cluster", "default", "default"}}.target()},
		"another cluster than that of the current profile": {ctxMain, "far", Flags{Cluster: "main"}, nil, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"profile far", "context " + ctxMain, "--cluster", "current context", "context " + ctxMain, "default"}}.target()},
		"a cluster of the same name in another project": {ctxMain, "twin", Flags{Project: "acme-ml", Cluster: "main"}, nil, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"--project", "context " + ctxMain, "--cluster", "current context", "context " + ctxMain, "default"}}.target()},
		"a cluster of the same name in another zone": {ctxMain, "near", Flags{Cluster: "main"}, variables{"KINETIC_ZONE": "us-central1-a"}, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"profile near", "KINETIC_ZONE", "--cluster", "current context", "context " + ctxMain, "default"}}.target()},
		"another project than that of the current profile": {"kind-dev", "far", Flags{Project: "lone-ml"}, nil, whole{
			"lone-ml", "asia-east1-c", "from-gcloud", "kind-dev", "sandbox", true, "gs://lone-ml-kn-from-gcloud-jobs",
			Sources{"--project", gcloud, gcloud, "current context", "context kind-dev", "default"}}.target()},
		"another project by a variable": {"kind-dev", "", Flags{}, variables{"KINETIC_PROJECT": "lone-ml", "KINETIC_PROFILE": "big"}, whole{
			"lone-ml", "asia-east1-c", "from-gcloud", "kind-dev", "sandbox", false, "gs://lone-ml-kn-from-gcloud-jobs",
			Sources{"KINETIC_PROJECT", gcloud, gcloud, "current context", "context kind-dev", "default"}}.target()},
		"the project of the current profile": {ctxMain, "big", Flags{Project: "acme-ml"}, nil, whole{
			"acme-ml", "europe-west4-b", "big", ctxBig, "default", true, "gs://acme-ml-kn-big-jobs",
			Sources{"--project", "profile big", "profile big", "project, zone and cluster", "profile big", "default"}}.target()},
		"another cluster by a variable": {ctxMain, "", Flags{}, variables{"KINETIC_CLUSTER": "main", "KINETIC_PROFILE": "new"}, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
			Sources{"profile new", "context " + ctxMain, "KINETIC_CLUSTER", "current context", "context " + ctxMain, "default"}}.target()},
		"the cluster of the current profile": {ctxMain, "lone", Flags{Cluster: "kinetic-cluster"}, nil, whole{
			"lone-ml", "us-central1-a", "kinetic-cluster", ctxLone, "alone", true, "gs://lone-ml-kn-kinetic-cluster-jobs",
			Sources{"profile lone", "profile lone", "--cluster", "project, zone and cluster", "profile lone", "default"}}.target()},
		"another cluster and --profile": {ctxMain, "", Flags{Profile: "lone", Cluster: "main", Project: "acme-ml"}, nil, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "alone", true, "gs://acme-ml-kn-main-jobs",
			Sources{"--project", "profile lone", "--cluster", "current context", "profile lone", "default"}}.target()},
		"another context than that of the profile": {"", "", Flags{Profile: "kind", Context: ctxMain}, nil, whole{
			"acme-ml", "us-central1-a", "main", ctxMain, "ml", true, "gs://acme-ml-kn-main-jobs",
			Sources{"context " + ctxMain, "context " + ctxMain, "context " + ctxMain, "--context", "profile kind", "default"}}.target()},
		"a store of a cluster of GKE": {ctxMain, "far", Flags{}, nil, whole{
			"acme-ml", "europe-west4-b", "big", ctxBig, "default", true, "gs://far",
			Sources{"profile far", "profile far", "profile far", "project, zone and cluster", "profile far", "profile far"}}.target()},
		"gcloud where the context says nothing": {"kind-dev", "", Flags{}, nil, whole{
			"gcloud-ml", "asia-east1-c", "from-gcloud", "kind-dev", "sandbox", false, "gs://gcloud-ml-kn-from-gcloud-jobs",
			Sources{gcloud, gcloud, gcloud, "current context", "context kind-dev", "default"}}.target()},
		"gcloud's variables before its file": {"kind-dev", "", Flags{},
			variables{"CLOUDSDK_CORE_PROJECT": "env-ml", "CLOUDSDK_COMPUTE_ZONE": "us-west1-a", "CLOUDSDK_CONTAINER_CLUSTER": "by-env", "GOOGLE_CLOUD_PROJECT": "last-ml"}, whole{
				"env-ml", "us-west1-a", "by-env", "kind-dev", "sandbox", false, "gs://env-ml-kn-by-env-jobs",
				Sources{"CLOUDSDK_CORE_PROJECT", "CLOUDSDK_COMPUTE_ZONE", "CLOUDSDK_CONTAINER_CLUSTER", "current context", "context kind-dev", "default"}}.target()},
		"an odd value that does not count": {"kind-dev", "", Flags{Project: "acme-ml"}, variables{"CLOUDSDK_CORE_PROJECT": "1234"}, whole{
			"acme-ml", "asia-east1-c", "from-gcloud", "kind-dev", "sandbox", true, "gs://acme-ml-kn-from-gcloud-jobs",
			Sources{"--project", gcloud, gcloud, "current context", "context kind-dev", "default"}}.target()},
		"GOOGLE_CLOUD_PROJECT is the last": {"kind-dev", "", Flags{}, variables{"CLOUDSDK_ACTIVE_CONFIG_NAME": "NONE", "GOOGLE_CLOUD_PROJECT": "last-ml"}, whole{
			"last-ml", "us-central1-a", "kinetic-cluster", "kind-dev", "sandbox", false, "gs://last-ml-kn-kinetic-cluster-jobs",
			Sources{"GOOGLE_CLOUD_PROJECT", "default", "default", "current context", "context kind-dev", "default"}}.target()},
		"gcloud finds a context where none is current": {"", "", Flags{},
			variables{"CLOUDSDK_CORE_PROJECT": "acme-ml", "CLOUDSDK_COMPUTE_ZONE": "us-central1-a", "CLOUDSDK_CONTAINER_CLUSTER": "main"}, whole{
				"acme-ml", "us-central1-a", "main", ctxMain, "research", true, "gs://acme-ml-kn-main-jobs",
				Sources{"CLOUDSDK_CORE_PROJECT", "CLOUDSDK_COMPUTE_ZONE", "CLOUDSDK_CONTAINER_CLUSTER", "project, zone and cluster", "context " + ctxMain, "default"}}.target()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := variables{"HOME": home(t, tt.profile)}
			maps.Copy(env, tt.env)
			checkResolve(t, tt.current, tt.flags, env, tt.want)
		})
	}
}

func TestOriginsReject(t *testing.T) {
	tests := map[string]struct {
		profile string // current in the file
		flags   Flags
		env     variables
		want    string
	}{
		"a profile of no context":    {"gone", Flags{}, nil, `profile gone: context kind-dv: the kubeconfig has no context of that name: did you mean "kind-dev"?`},
		"a --profile nearly right":   {"", Flags{Profile: "lon"}, nil, `--profile lon: `},
		"one is offered":             {"", Flags{Profile: "lon"}, nil, `did you mean "lone"?`},
		"KINETIC_PROFILE unknown":    {"big", Flags{}, variables{"KINETIC_PROFILE": "nope"}, "KINETIC_PROFILE nope: "},
		"a cluster without context":  {"new", Flags{}, nil, "no context gke_acme-ml_us-west1_new, which is the cluster of profile new: get one with `gcloud container clusters get-credentials new --region us-west1 --project acme-ml`; --context names another"},
		"a flag that changes it":     {"new", Flags{Cluster: "newer"}, nil, "no context gke_acme-ml_us-central1-a_newer: get one with"},
		"a project with capitals":    {"odd", Flags{}, nil, `profile odd "Acme": expected a project id`},
		"a namespace with dots":      {"dots", Flags{}, nil, `profile dots "a.b": not a namespace`},
		"--context and --profile":    {"", Flags{Profile: "big", Context: ctxMain}, nil, "europe-west4-b of profile big contradicts --context " + ctxMain + ", which has us-central1-a"},
		"gcloud's own odd value":     {"", Flags{Context: "kind-dev"}, variables{"CLOUDSDK_CORE_PROJECT": "1234"}, `CLOUDSDK_CORE_PROJECT "1234": expected a project id`},
		"no such configuration":      {"", Flags{Context: "kind-dev"}, variables{"CLOUDSDK_ACTIVE_CONFIG_NAME": "nope"}, "reading gcloud's configuration: CLOUDSDK_ACTIVE_CONFIG_NAME nope: no such configuration; list them with `gcloud config configurations list`"},
		"a configuration's bad name": {"", Flags{Context: "kind-dev"}, variables{"CLOUDSDK_ACTIVE_CONFIG_NAME": "../x"}, `CLOUDSDK_ACTIVE_CONFIG_NAME "../x": invalid configuration name`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config, _ := kubeconfig(t, ctxMain)
			env := variables{"HOME": home(t, tt.profile)}
			maps.Copy(env, tt.env)
			got, err := Resolve(tt.flags, env.get, config, Need{Cluster: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v; want %q in the error", got, err, tt.want)
			}
		})
	}
}

// Files that have nothing to add are not opened: broken ones do no harm.
func TestFilesAreReadWhereNeeded(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".kinetic", "profiles.json"), "{")
	write(t, filepath.Join(dir, ".config", "gcloud", "active_config"), "//")
	all := Flags{Project: "acme-ml", Zone: "us-central1-a", Cluster: "main", Namespace: "team"}
	tests := map[string]struct {
		current string
		flags   Flags
		env     variables
		want    string // in the error, empty for none
	}{
		"all flags":                {ctxMain, all, nil, ""},
		"flags and variables":      {ctxMain, Flags{Project: "acme-ml", Namespace: "team"}, variables{"KINETIC_ZONE": "us-central1-a", "KINETIC_CLUSTER": "main"}, ""},
		"--context of GKE":         {ctxMain, Flags{Context: ctxBig}, nil, ""},
		"no flags":                 {ctxMain, Flags{}, nil, "profiles.json:1:1: "},
		"no namespace":             {ctxMain, Flags{Project: "acme-ml", Zone: "us-central1-a", Cluster: "main"}, nil, "profiles.json:1:1: "},
		"--profile":                {ctxMain, Flags{Profile: "x", Context: ctxBig}, nil, "profiles.json:1:1: "},
		"--context that is no GKE": {ctxMain, Flags{Context: "kind-dev"}, nil, `active_config "//": invalid configuration name`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config, _ := kubeconfig(t, tt.current)
			env := variables{"HOME": dir}
			maps.Copy(env, tt.env)
			_, err := Resolve(tt.flags, env.get, config, Need{Cluster: true})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// whole is a target of a cluster that has nothing to say about images.
type whole struct {
	project, zone, cluster, context, namespace string
	gke                                        bool
	store                                      string
	from                                       Sources
}

func (w whole) target() Target {
	return Target{Project: w.project, Zone: w.zone, Cluster: w.cluster, Context: w.context, Namespace: w.namespace, GKE: w.gke, Store: w.store, From: w.from}
}
