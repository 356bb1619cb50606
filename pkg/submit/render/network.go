package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// claimFile is the template of what the pods of the component rdma claim.
const claimFile = componentsDir + "/rdma/resourceclaimtemplate.yaml"

// podInterfaces is the annotation with which GKE connects a pod to networks besides the
// cluster's own.
const podInterfaces = "networking.gke.io/interfaces"

// network replaces the samples of the components rdma and tcpxo.
func (p *patch) network(s api.Spec) error {
	switch {
	case s.Network == api.NetworkRDMA:
		p.replace(podSpec+"/resourceClaims/0/resourceClaimTemplateName", s.JobName())
	case s.Network == api.NetworkTCPXO && s.PodNetworks != nil:
		text, err := interfaces(s.PodNetworks)
		if err != nil {
			return err
		}
		p.replace(pointer(podMetadata+"/annotations", podInterfaces), text)
	}
	return nil
}

// interfaces connects eth0 to the cluster's network, and eth1 and those after it to others.
func interfaces(networks []string) (string, error) {
	type connection struct {
		Interface string `json:"interfaceName"`
		Network   string `json:"network"`
	}
	lines := make([]string, 0, len(networks)+1)
	for i, network := range append([]string{"default"}, networks...) {
		line, err := json.Marshal(connection{fmt.Sprintf("eth%d", i), network})
		if err != nil {
			return "", fmt.Errorf("writing the annotation %s: %w", podInterfaces, err)
		}
		lines = append(lines, string(line))
	}
	return "[" + strings.Join(lines, ",\n ") + "]\n", nil
}
