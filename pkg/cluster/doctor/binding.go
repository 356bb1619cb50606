package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
)

// rights are what bindings give to someone.
type rights struct {
	sure bool
	// unsure is why it is not known, "" if nothing speaks for it.
	unsure string
}

// pods returns the members of policies that the pods are: their service account in all clusters of the
// project, all pods of the namespace, and all of the cluster.
func (c *cloud) pods() []string {
	one := c.principal()
	pool, _, _ := strings.Cut(strings.Replace(one, "principal://", "principalSet://", 1), "/subject/")
	t := c.Target
	return []string{one, pool + "/namespace/" + t.Namespace,
		fmt.Sprintf("%s/kubernetes.cluster/https://container.googleapis.com/v1/projects/%s/locations/%s/clusters/%s", pool, t.Project, t.Zone, t.Cluster)}
}

// granted returns whether bindings of a resource, or else those of the project, give members a role that
// serves. Roles of folders and organizations can't be seen.
func (c *cloud) granted(ctx context.Context, bindings []infracloud.Binding, members []string, serves func(role string) bool) rights {
	of := permissionsOf(bindings, members, serves)
	if of.sure {
		return of
	}
	all, err := c.ofProject(ctx)
	if err != nil { // who may not read it sees what the resource says
		return of
	}
	ofProject := permissionsOf(all.Bindings, members, serves)
	if ofProject.sure || of.unsure == "" {
		return ofProject
	}
	return of
}

func permissionsOf(bindings []infracloud.Binding, members []string, serves func(role string) bool) rights {
	var r rights
	for _, b := range bindings {
		if !slices.ContainsFunc(b.Members, func(m string) bool { return slices.Contains(members, m) }) {
			continue
		}
		switch {
		case serves(b.Role) && !b.Conditional():
			return rights{sure: true}
		case serves(b.Role):
			r.unsure = b.Role + " is bound with a condition"
		case !strings.HasPrefix(b.Role, "roles/"): // of the project or the organization
			r.unsure = b.Role + " may have the permissions for it"
		}
	}
	return r
}

func writes(role string) bool {
	return slices.Contains([]string{"roles/storage.objectUser", "roles/storage.objectAdmin", "roles/storage.admin"}, role)
}

// reads reports whether a role lets its members read what a bucket is like.
func reads(role string) bool {
	return slices.Contains([]string{infracloud.BucketReader, "roles/storage.legacyBucketWriter", "roles/storage.legacyBucketOwner",
		"roles/storage.bucketViewer", "roles/storage.admin"}, role)
}
