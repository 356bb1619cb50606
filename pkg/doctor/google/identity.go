package google

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/iam/v1"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/gke"
)

// identity looks whether the pods may use the bucket: as the Google service account that theirs is annotated
// with, or by themselves.
func (c *cloud) identity(ctx context.Context) doctor.Finding {
	email, err := c.Identity(ctx)
	if err != nil {
		return unread(err)
	}
	member := c.principal()
	if email != "" {
		if f := c.binding(ctx, email); f.State != doctor.OK {
			return f
		}
		member = gcp.Member(email)
	}
	bucket, inBucket := bucketOf(c.Target.Store)
	if !inBucket {
		return doctor.Lacking(Store)
	}
	return c.grant(ctx, bucket, member)
}

// principal returns the pods' service account as IAM names it.
func (c *cloud) principal() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := "PROJECT_NUMBER"
	if c.number > 0 {
		number = strconv.FormatInt(c.number, 10)
	}
	return fmt.Sprintf("principal://iam.googleapis.com/projects/%s/locations/global/workloadIdentityPools/%s.svc.id.goog/subject/ns/%s/sa/%s",
		number, c.Target.Project, c.Target.Namespace, api.DefaultServiceAccount)
}

// binding looks whether the pods may act as a Google service account.
func (c *cloud) binding(ctx context.Context, email string) doctor.Finding {
	service, err := iam.NewService(ctx, c.api().Options(gcp.IAM)...)
	if err != nil {
		return doctor.Failed(err)
	}
	policy, err := service.Projects.ServiceAccounts.GetIamPolicy("projects/-/serviceAccounts/" + email).Context(ctx).Do()
	switch {
	case gcp.IsMissing(err):
		return doctor.Bad("", "the service account %s is annotated with %s, which does not exist", api.DefaultServiceAccount, email)
	case err != nil:
		return c.failed(ctx, err, "reading who may use "+email)
	}
	member := fmt.Sprintf("serviceAccount:%s.svc.id.goog[%s/%s]", c.Target.Project, c.Target.Namespace, api.DefaultServiceAccount)
	if slices.ContainsFunc(policy.Bindings, func(b *iam.Binding) bool { return b.Role == gke.IdentityRole && slices.Contains(b.Members, member) }) {
		return doctor.Good("%s", email)
	}
	return doctor.Bad(fmt.Sprintf("gcloud iam service-accounts add-iam-policy-binding %s --role=%s --member='%s'", email, gke.IdentityRole, member),
		"the service account %s of namespace %s may not act as %s", api.DefaultServiceAccount, c.Target.Namespace, email)
}

// grant looks whether the policy of the bucket gives a member what the runner needs.
func (c *cloud) grant(ctx context.Context, bucket, member string) doctor.Finding {
	service, err := c.storage(ctx)
	if err != nil {
		return doctor.Failed(err)
	}
	policy, err := service.Buckets.GetIamPolicy(bucket).OptionsRequestedPolicyVersion(3).Context(ctx).Do()
	switch {
	case gcp.IsMissing(err):
		return c.lackingBucket(ctx)
	case isRefused(err):
		return doctor.Skip("you may not read who may use the bucket %s", bucket)
	case err != nil:
		return c.failed(ctx, err, "reading who may use the bucket "+bucket)
	}
	if slices.ContainsFunc(policy.Bindings, func(b *storage.PolicyBindings) bool { return writes(b.Role) && c.covers(b.Members, member) }) {
		return doctor.Good("%s", member)
	}
	if member == c.principal() && bucket == c.ownBucket() && c.isMadeByUp(ctx) {
		return doctor.Bad(c.up()+" -n "+c.Target.Namespace, "the service account %s of namespace %s is not annotated with a Google service account, and may not write to the bucket %s itself",
			api.DefaultServiceAccount, c.Target.Namespace, bucket)
	}
	const role = "roles/storage.objectUser"
	return doctor.Bad(fmt.Sprintf("gcloud storage buckets add-iam-policy-binding gs://%s --role=%s --member=%s", bucket, role, member),
		"no binding of the bucket %s lets the jobs' pods write there", bucket)
}

// covers reports whether members have the pods' member among them, by name or by their namespace.
func (c *cloud) covers(members []string, member string) bool {
	namespace, _, _ := strings.Cut(strings.Replace(member, "principal://", "principalSet://", 1), "/subject/")
	return slices.Contains(members, member) || slices.Contains(members, namespace+"/namespace/"+c.Target.Namespace)
}

// writes reports whether a role lets its members read and write objects.
func writes(role string) bool {
	return slices.Contains([]string{"roles/storage.objectUser", "roles/storage.objectAdmin", "roles/storage.admin"}, role)
}

// bucketScheme begins the URL of a store in a bucket.
const bucketScheme = "gs://"

// bucketOf returns the bucket of a store, if it is in one.
func bucketOf(url string) (string, bool) {
	path, found := strings.CutPrefix(url, bucketScheme)
	name, _, _ := strings.Cut(path, "/")
	return name, found
}
