package job

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Reaches checks that the workload of a job would be found in this registry: several
// namespaces and clusters may share a store, and a job that isn't in this one may be
// running in another. The error is an IDError.
func (reg Registry) Reaches(h api.Handle) error { return reg.has(h, false) }

// has is Reaches for a job whose workload may have been found. If it was found, the job
// is in this cluster, whatever its name and address were when the job was submitted.
func (reg Registry) has(h api.Handle, found bool) error {
	switch {
	case reg.Namespace != "" && h.Namespace != "" && h.Namespace != reg.Namespace:
		return &IDError{kind: api.KindElsewhere, next: "add -n " + h.Namespace, msg: fmt.Sprintf("job %s is in namespace %s, not in %s: add -n %s", h.JobID, h.Namespace, reg.Namespace, h.Namespace)}
	case found || h.ClusterID != "" && h.ClusterID == reg.ClusterID:
		return nil
	case reg.Cluster != "" && h.ClusterName != "":
		if h.ClusterName == reg.Cluster {
			return nil // GKE gives a cluster several addresses
		}
		return &IDError{kind: api.KindElsewhere, next: "add --cluster " + h.ClusterName, msg: fmt.Sprintf("job %s is in cluster %s, not in %s: add --cluster %s", h.JobID, h.ClusterName, reg.Cluster, h.ClusterName)}
	case reg.ClusterID != "" && h.ClusterID != "":
		return &IDError{kind: api.KindElsewhere, next: "choose it with --context", msg: fmt.Sprintf("job %s is in another cluster, whose server was %s when it was submitted: choose it with --context", h.JobID, h.Server)}
	}
	return nil
}
