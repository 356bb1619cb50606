package kube

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// networksPath has GKE's objects about networks of pods.
const networksPath = "/apis/networking.gke.io/v1"

// DeviceNetworks returns the names of the cluster's Network objects that stand for network cards of nodes, by the
// names of the subnetworks that these are in. Pods get such a card by an annotation with the Network.
func (c *Cluster) DeviceNetworks(ctx context.Context) (map[string]string, error) {
	var networks struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct {
				Type          string
				ParametersRef struct{ Kind, Name string }
			}
		}
	}
	var parameters struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ VPCSubnet, DeviceMode string }
		}
	}
	for _, list := range []struct {
		resource string
		into     any
	}{{"networks", &networks}, {"gkenetworkparamsets", &parameters}} {
		if err := c.read(ctx, list.into, networksPath, list.resource); err != nil {
			resource := list.resource + ".networking.gke.io"
			return nil, apiserver.Request{Verb: "list", Resource: resource, Cluster: true}.Explain("listing "+resource, err)
		}
	}
	subnetworks := map[string]string{} // by the names of their parameters
	for _, p := range parameters.Items {
		if p.Spec.DeviceMode == "NetDevice" && p.Spec.VPCSubnet != "" {
			subnetworks[p.Metadata.Name] = p.Spec.VPCSubnet
		}
	}
	found := map[string]string{}
	for _, n := range networks.Items {
		subnetwork, known := subnetworks[n.Spec.ParametersRef.Name]
		if known && n.Spec.Type == "Device" && n.Spec.ParametersRef.Kind == "GKENetworkParamSet" {
			found[subnetwork] = n.Metadata.Name
		}
	}
	return found, nil
}
