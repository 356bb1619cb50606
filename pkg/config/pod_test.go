package config

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

// A cluster can be reached without a context: from a pod of it, or by address.
func TestResolveWithoutAContext(t *testing.T) {
	pod := variables{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
	tests := map[string]struct {
		text  string // the kubeconfig
		flags Flags
		env   variables
		want  Target
		err   string
	}{
		"in a pod": {"", Flags{Store: "gs://bucket"}, variables{"POD_NAMESPACE": "team"},
			Target{Zone: "us-central1-a", Cluster: "kinetic-cluster", Namespace: "team", Store: "gs://bucket",
				From: Sources{Zone: "default", Cluster: "default", Context: InPod, Namespace: "POD_NAMESPACE", Store: "--store"}}, ""},
		"a project for the store": {"", Flags{Namespace: "mine"}, variables{"KINETIC_PROJECT": "acme-ml"},
			Target{Project: "acme-ml", Zone: "us-central1-a", Cluster: "kinetic-cluster", Namespace: "mine", Store: "gs://acme-ml-kn-kinetic-cluster-jobs",
				From: Sources{Project: "KINETIC_PROJECT", Zone: "default", Cluster: "default", Context: InPod, Namespace: "--namespace", Store: "default"}}, ""},
		"by address": {"", Flags{Store: "gs://bucket", Server: "https://192.0.2.1"}, nil,
			Target{Zone: "us-central1-a", Cluster: "kinetic-cluster", Namespace: "default", Store: "gs://bucket",
				From: Sources{Zone: "default", Cluster: "default", Context: "--server", Namespace: "default", Store: "--store"}}, ""},
		"a kubeconfig counts before the pod": {"contexts: [{name: c, context: {cluster: c}}]\n", Flags{Store: "gs://bucket"}, nil,
			Target{}, "the kubeconfig has no current context"},
		"another cluster than the pod's": {"", Flags{Store: "gs://bucket", Project: "acme-ml", Cluster: "other"}, nil,
			Target{}, "no context gke_acme-ml_us-central1-a_other: get one with"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig.yaml")
			write(t, path, "apiVersion: v1\nkind: Config\n"+tt.text)
			t.Setenv("KUBECONFIG", path)
			config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
			env := maps.Clone(pod)
			maps.Copy(env, tt.env)
			got, err := Resolve(tt.flags, env.get, config, Need{Cluster: true})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %+v, %v; want %q in the error", got, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodNamespace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	write(t, file, "team\n")
	tests := map[string]struct {
		env  variables
		file string
		want setting
	}{
		"the service account's":  {nil, file, setting{"team", InPod}},
		"a variable comes first": {variables{"POD_NAMESPACE": "mine"}, file, setting{"mine", "POD_NAMESPACE"}},
		"no service account":     {nil, file + "-gone", setting{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podNamespace(tt.env.get, tt.file); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
