package kube

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeviceNetworks(t *testing.T) {
	network := func(name, kind, parameters string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"type": kind,
			"parametersRef": map[string]any{"group": "networking.gke.io", "kind": "GKENetworkParamSet", "name": parameters}}}
	}
	parameters := func(name, subnetwork, mode string) map[string]any {
		spec := map[string]any{"vpc": "v", "vpcSubnet": subnetwork}
		if mode != "" {
			spec["deviceMode"] = mode
		}
		return map[string]any{"metadata": map[string]any{"name": name}, "spec": spec}
	}
	s, w, _ := startSet(t)
	s.objects[networksPath+"/networks"] = map[string]any{"items": []any{
		network("default", "L3", "default"), network("gpu-1", "Device", "one"), network("gpu-2", "Device", "two"), network("rdma-0", "Device", "rdma"),
		network("lost", "Device", "gone"),
	}}
	s.objects[networksPath+"/gkenetworkparamsets"] = map[string]any{"items": []any{
		parameters("default", "nodes", ""), parameters("one", "sub-1", "NetDevice"), parameters("two", "sub-2", "NetDevice"), parameters("rdma", "sub-3", "RDMA"),
	}}
	got, err := w.DeviceNetworks(t.Context())
	if want := map[string]string{"sub-1": "gpu-1", "sub-2": "gpu-2"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/gkenetworkparamsets") {
			return false
		}
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		return true
	}
	if _, err := w.DeviceNetworks(t.Context()); err == nil || !strings.Contains(err.Error(), "listing gkenetworkparamsets.networking.gke.io in the whole cluster") {
		t.Errorf("got %v, want what was being done", err)
	}
}
