package config

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Names are the names of what belongs to a cluster, in Google Cloud and in the cluster. They are
// those of the Python package, so that both see the same.
type Names struct {
	Project string
	Zone    string // or the region of a regional cluster
	Cluster string
	// Namespace is where jobs run.
	Namespace string
}

// ServiceAccount is the Kubernetes service account of the pods of jobs.
const ServiceAccount = "kinetic"

// The limits of Google Cloud.
const (
	maxAccount = 30
	maxCluster = 40
)

// Region returns the region of the cluster.
func (n Names) Region() string { return Region(n.Zone) }

// Images returns the location of the repository.
func (n Names) Images() string { return ImageLocation(n.Zone) }

// Network returns the name of the network.
func (n Names) Network() string { return Prefix + n.Cluster }

// Router returns the name of the router.
func (n Names) Router() string { return Prefix + n.Cluster + "-router" }

// NAT returns the name of the router's NAT, through which nodes without addresses reach the
// internet.
func (n Names) NAT() string { return Prefix + n.Cluster + "-nat" }

// Repository returns the name of the repository of images.
func (n Names) Repository() string { return Prefix + n.Cluster }

// Jobs returns the name of the bucket that is the store.
func (n Names) Jobs() string { return Bucket(n.Project, n.Cluster) }

// Builds returns the name of the bucket with the sources and logs of builds.
func (n Names) Builds() string { return n.Project + "-" + Prefix + n.Cluster + "-builds" }

// Pulumi returns the name of the bucket where the Python package keeps its record of a cluster.
func (n Names) Pulumi() string { return n.Project + "-kinetic-state" }

// The accounts of a cluster.
const (
	NodesAccount  = "nodes"  // of the machines
	BuildsAccount = "builds" // of Cloud Build
	JobsAccount   = "jobs"   // of the pods of jobs
)

// Account returns the ID of one of the cluster's service accounts. An ID that would be too long is
// cut, and ends with a hash of the cluster's name.
func (n Names) Account(of string) string {
	id := Prefix + n.Cluster + "-" + of
	if len(id) <= maxAccount {
		return id
	}
	sum := sha256.Sum256([]byte(n.Cluster))
	end := fmt.Sprintf("-%x-%s", sum[:3], of)
	return strings.TrimRight(id[:maxAccount-len(end)], "-") + end
}

// Email returns the address of one of the cluster's service accounts.
func (n Names) Email(of string) string { return n.Address(n.Account(of)) }

// Address returns the address of the service account with an ID. The ID of a project in a domain,
// example.com:research, is turned around in it.
func (n Names) Address(account string) string {
	project := n.Project
	if domain, name, scoped := strings.Cut(project, ":"); scoped {
		project = name + "." + domain
	}
	return account + "@" + project + ".iam.gserviceaccount.com"
}

// Member returns an account as policies name it.
func (n Names) Member(of string) string { return "serviceAccount:" + n.Email(of) }

// IdentityPool returns the pool of identities of the project's clusters.
func (n Names) IdentityPool() string { return n.Project + ".svc.id.goog" }

// Identity returns the Kubernetes service account of jobs as policies name it.
func (n Names) Identity() string {
	return fmt.Sprintf("serviceAccount:%s[%s/%s]", n.IdentityPool(), n.Namespace, ServiceAccount)
}

// Context returns gcloud's name for the cluster in a kubeconfig.
func (n Names) Context() string {
	return strings.Join([]string{"gke", n.Project, n.Zone, n.Cluster}, "_")
}

// Check reports why Google Cloud would refuse one of the names.
func (n Names) Check() error {
	if !lazyregexp.Of(clusterPattern).MatchString(n.Cluster) {
		return fmt.Errorf("--cluster %q: expected at most %d lower-case letters, digits and '-', beginning with a letter and not ending with '-'", n.Cluster, maxCluster)
	}
	if long := len(n.Builds()) - maxBucketPart; long > 0 {
		return fmt.Errorf("--cluster %q: its bucket %s would have %d characters, but at most %d are allowed: use a name with at most %d characters",
			n.Cluster, n.Builds(), len(n.Builds()), maxBucketPart, len(n.Cluster)-long)
	}
	if strings.Contains(n.Project, ":") {
		return fmt.Errorf("--project %q: bucket names can't contain the ':' of a project: create the buckets and the cluster yourself, and name the store with --store", n.Project)
	}
	return nil
}
