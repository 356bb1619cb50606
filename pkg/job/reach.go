package job

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// reaches checks that the workload of a job would be found here: a store may
// serve several namespaces and clusters, and a job that isn't in this one may
// well run in another.
func (p Place) reaches(h api.Handle) error { return p.has(h, false) }

// has is reaches for a job whose workload may have been found: where it was, the job is
// in this cluster, by whatever way that was reached when the job was submitted.
func (p Place) has(h api.Handle, found bool) error {
	switch {
	case p.Namespace != "" && h.Namespace != "" && h.Namespace != p.Namespace:
		return &IDError{fmt.Sprintf("job %s is in namespace %s, not in %s: add -n %s", h.JobID, h.Namespace, p.Namespace, h.Namespace)}
	case found || h.ClusterID != "" && h.ClusterID == p.ClusterID:
		return nil
	case p.Cluster != "" && h.ClusterName != "":
		if h.ClusterName == p.Cluster {
			return nil // GKE gives a cluster several addresses
		}
		return &IDError{fmt.Sprintf("job %s is in cluster %s, not in %s: add --cluster %s", h.JobID, h.ClusterName, p.Cluster, h.ClusterName)}
	case p.ClusterID != "" && h.ClusterID != "":
		return &IDError{fmt.Sprintf("job %s is in another cluster, whose server was %s when it was submitted: choose it with --context", h.JobID, h.Server)}
	}
	return nil
}
