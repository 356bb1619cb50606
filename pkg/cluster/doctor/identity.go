package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
)

// identity looks whether the pods may use the bucket: as the Google service account that theirs is annotated
// with, or by themselves.
func (c *cloud) identity(ctx context.Context) Finding {
	email, err := c.Identity(ctx)
	if need, ok := errors.AsType[NeedError](err); ok {
		return Lacking(string(need))
	}
	if err != nil {
		return Skip("the service account %s can't be read: %v", api.DefaultServiceAccount, err)
	}
	member := c.principal()
	if email != "" {
		if f := c.binding(ctx, email); f.State != OK {
			return f
		}
		member = principal.Member(email)
	}
	bucket, inBucket := bucketOf(c.Target.Store)
	if !inBucket {
		return Lacking(StoreCheck)
	}
	if c.emulator() != "" {
		return Skip("the emulator %s has no permissions", c.emulator())
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
func (c *cloud) binding(ctx context.Context, email string) Finding {
	policy, err := c.api().AccountPolicy(ctx, "projects/-/serviceAccounts/"+email)
	switch {
	case gcp.IsMissing(err):
		return Bad("", "the service account %s is annotated with %s, which does not exist", api.DefaultServiceAccount, email)
	case err != nil:
		return c.failed(ctx, err, "reading who may use "+email)
	}
	member := fmt.Sprintf("serviceAccount:%s.svc.id.goog[%s/%s]", c.Target.Project, c.Target.Namespace, api.DefaultServiceAccount)
	acts := func(role string) bool { return role == gke.IdentityRole }
	ours := c.granted(ctx, policy.Bindings, append(c.pods(), member), acts)
	switch {
	case ours.sure:
		return Good("%s", email)
	case ours.unsure != "":
		return Skip("whether the pods may act as %s is not known: %s", email, ours.unsure)
	}
	return Bad(fmt.Sprintf("gcloud iam service-accounts add-iam-policy-binding %s --role=%s --member='%s'", email, gke.IdentityRole, member),
		"the service account %s of namespace %s has no permission to act as %s", api.DefaultServiceAccount, c.Target.Namespace, email)
}

// grant looks whether the policy of the bucket gives a member what the runner needs.
func (c *cloud) grant(ctx context.Context, bucket, member string) Finding {
	policy, err := c.api().BucketPolicy(ctx, bucket)
	switch {
	case gcp.IsMissing(err):
		return c.lackingBucket(ctx)
	case isRefused(err):
		return Skip("no permission to read who can use the bucket %s", bucket)
	case err != nil:
		return c.failed(ctx, err, "reading who may use the bucket "+bucket)
	}
	members := []string{member}
	if member == c.principal() {
		members = c.pods()
	}
	const role = "roles/storage.objectUser"
	allow := func(role string) string {
		return fmt.Sprintf("gcloud storage buckets add-iam-policy-binding gs://%s --role=%s --member=%s", bucket, role, member)
	}
	writing := c.granted(ctx, policy.Bindings, members, writes)
	switch {
	case writing.sure:
		if c.granted(ctx, policy.Bindings, members, reads).sure {
			return Good("%s", member)
		}
		return Skip("%s can use the objects in %s, but can't read the bucket's settings, which Orbax on several hosts and others need: %s", member, bucket, allow(infracloud.BucketReader))
	case writing.unsure != "":
		return Skip("whether the jobs' pods may write to the bucket %s is not known: %s", bucket, writing.unsure)
	case member == c.principal() && bucket == c.ownBucket() && c.isMadeByUp(ctx):
		return Bad(c.up()+" -n "+c.Target.Namespace, "the service account %s of namespace %s is not annotated with a Google service account, and has no permission of its own to write to the bucket %s",
			api.DefaultServiceAccount, c.Target.Namespace, bucket)
	}
	return Bad(allow(role), "no binding of the bucket %s lets the jobs' pods write there", bucket)
}

// isMadeByUp reports whether `up` is known to have made the cluster. It then also makes what the cluster lacks.
func (c *cloud) isMadeByUp(ctx context.Context) bool {
	found, err := c.cluster(ctx)
	return err == nil && infracloud.MadeByUp(found)
}

// bucketScheme begins the URL of a store in a bucket.
const bucketScheme = "gs://"

// bucketOf returns the bucket of a store, if it is in one.
func bucketOf(url string) (string, bool) {
	path, found := strings.CutPrefix(url, bucketScheme)
	name, _, _ := strings.Cut(path, "/")
	return name, found
}
