package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/store/expiry"
)

func (c *cloud) store() []Check {
	group := "Store"
	if c.Target.Store != "" {
		group += " " + c.Target.Store
	}
	check := func(name string, within time.Duration, run func(context.Context) Finding, needs ...string) Check {
		return Check{Group: group, Name: name, Needs: needs, Within: within, Run: run}
	}
	_, inBucket := bucketOf(c.Target.Store)
	switch {
	case !inBucket && c.ToldBy != "":
		return []Check{check(StoreCheck, 0, c.noStore, c.ToldBy)}
	case !inBucket:
		return []Check{check(StoreCheck, 0, c.noStore)}
	case c.emulator() != "":
		return []Check{check(StoreCheck, Within, c.reach)}
	case c.knowsProject():
		return []Check{
			check(StoreCheck, Within, c.permissions, ProjectCheck),
			check("lifecycle", Within, c.lifecycle, ProjectCheck),
		}
	}
	return []Check{
		check(CredentialsCheck, FilesWithin, c.credentials),
		check(StoreCheck, AnswerWithin, c.permissions, CredentialsCheck),
		check("lifecycle", Within, c.lifecycle, StoreCheck),
	}
}

func (c *cloud) emulator() string { return c.Env(api.EnvStorageEmulator) }

func (c *cloud) noStore(context.Context) Finding {
	if c.Problem != nil {
		return Failed(c.Problem)
	}
	return Bad("kubectl kinetic init", "no store is known: set the project with --project or KINETIC_PROJECT, or name a bucket with --store or KINETIC_STORE")
}

// emulated returns a client for the emulator.
func (c *cloud) emulated(ctx context.Context) (*storage.Service, error) {
	emulator := c.emulator()
	if !strings.Contains(emulator, "://") {
		emulator = "http://" + emulator
	}
	return storage.NewService(ctx, option.WithoutAuthentication(), option.WithEndpoint(strings.TrimSuffix(emulator, "/")+"/storage/v1/"))
}

// reach looks for the bucket in an emulator, which has no permissions and no rules.
func (c *cloud) reach(ctx context.Context) Finding {
	bucket, _ := bucketOf(c.Target.Store)
	service, err := c.emulated(ctx)
	if err != nil {
		return Failed(err)
	}
	_, err = service.Objects.List(bucket).MaxResults(1).Fields("kind").Context(ctx).Do()
	switch {
	case gcp.IsMissing(err):
		return Bad("", "the emulator %s=%s has no bucket %s", api.EnvStorageEmulator, c.emulator(), bucket)
	case err != nil:
		return Bad("", "the emulator %s=%s can't be used: %v", api.EnvStorageEmulator, c.emulator(), err)
	}
	return Good("the emulator %s has it", c.emulator())
}

// neededPermissions are what run and jobs need on the bucket; docs/permissions.md says for what.
func neededPermissions() []string {
	return []string{"storage.objects.create", "storage.objects.get", "storage.objects.list", "storage.objects.delete"}
}

func (c *cloud) permissions(ctx context.Context) Finding {
	bucket, _ := bucketOf(c.Target.Store)
	answer, err := c.api().Storage.Buckets.TestIamPermissions(bucket, neededPermissions()).Context(ctx).Do()
	if gcp.IsMissing(err) {
		if f := c.lackingBucket(ctx); f.Missing() != StoreCheck {
			return f
		}
		create := "gcloud storage buckets create gs://" + bucket + " --uniform-bucket-level-access"
		if c.Target.Project != "" {
			create += " --project " + c.Target.Project
		}
		return Bad(create, "there is no bucket %s", bucket)
	}
	refused := isRefused(err)
	if err != nil && !refused {
		return c.failed(ctx, err, "asking for the rights on the bucket "+bucket)
	}
	b, unseen := c.owner(ctx)
	if c.mayBeOfOthers(unseen) && (refused || len(answer.Permissions) == 0) {
		return Bad("", "you have no permissions on the bucket %s, so its project is unknown: if it is in another project, choose another cluster with --cluster, or name another store with --store or KINETIC_STORE; if it is in project %s, ask for roles/storage.objectUser on it", bucket, c.Target.Project)
	}
	if err != nil {
		return c.failed(ctx, err, "asking for the rights on the bucket "+bucket)
	}
	if unseen == nil && c.isOfOthers(b) {
		return Bad("", "the bucket %s is in another project, although it has the name of this cluster's: its owner can read and change what jobs store; name another store with --store or KINETIC_STORE", bucket)
	}
	missing := slices.DeleteFunc(neededPermissions(), func(p string) bool { return slices.Contains(answer.Permissions, p) })
	account := c.api().Account()
	if len(missing) > 0 {
		return Bad(fmt.Sprintf("gcloud storage buckets add-iam-policy-binding gs://%s --member=%s --role=roles/storage.objectUser", bucket, principal.Member(account)),
			"%s lacks %s on the bucket %s", cmp.Or(account, "your account"), strings.Join(missing, ", "), bucket)
	}
	return Good("you may read and write objects")
}

// lackingBucket returns the finding that a check needs the bucket, or the cluster that it comes with.
func (c *cloud) lackingBucket(ctx context.Context) Finding {
	if bucket, _ := bucketOf(c.Target.Store); bucket != c.ownBucket() {
		return Lacking(StoreCheck)
	}
	return c.lacking(ctx, StoreCheck)
}

// lifecycle looks for rules that delete results.
func (c *cloud) lifecycle(ctx context.Context) Finding {
	bucket, _ := bucketOf(c.Target.Store)
	b, err := c.api().Storage.Buckets.Get(bucket).Fields("labels", "lifecycle", "metageneration", "projectNumber", "softDeletePolicy").Context(ctx).Do()
	switch {
	case gcp.IsMissing(err):
		return c.lackingBucket(ctx)
	case isRefused(err):
		return Skip("no permission to read the rules of the bucket %s; roles/storage.bucketViewer grants it", bucket)
	case err != nil:
		return c.failed(ctx, err, "reading the rules of the bucket "+bucket)
	}
	worst := c.worst(b)
	if worst == nil {
		return Good("no rule deletes results%s", softDelete(bucket, b))
	}
	return c.rule(ctx, b, worst)
}

// worst returns the rule to tell of, nil if none does harm: one that can be narrowed, else one that deletes early.
func (c *cloud) worst(b *storage.Bucket) *storage.BucketLifecycleRule {
	if b.Lifecycle == nil {
		return nil
	}
	var worst *storage.BucketLifecycleRule
	for _, r := range b.Lifecycle.Rule {
		results, shared := expiry.Harms(r, c.folder())
		switch {
		case !results && !shared:
		case !late(r) && expiry.DeletesAll(r):
			return r
		case worst == nil || late(worst) && !late(r):
			worst = r
		}
	}
	return worst
}

func (c *cloud) rule(ctx context.Context, b *storage.Bucket, worst *storage.BucketLifecycleRule) Finding {
	bucket, _ := bucketOf(c.Target.Store)
	text := fmt.Sprintf("a rule of the bucket %s deletes results and outputs%s", bucket, age(worst))
	results, shared := expiry.Harms(worst, c.folder())
	switch all := expiry.DeletesAll(worst); {
	case !all && results:
		text = fmt.Sprintf("a rule of the bucket %s deletes results and outputs: it %s", bucket, expiry.Text(worst))
	case !all:
		text = fmt.Sprintf("a rule of the bucket %s deletes what jobs still use: it %s", bucket, expiry.Text(worst))
	}
	switch {
	case late(worst):
		return Good("%s%s", text, softDelete(bucket, b))
	case !expiry.DeletesAll(worst) || !c.mayNarrow(b) || !c.keeps(ctx, bucket, b):
		var with []string
		if results {
			quoted, _ := json.Marshal(c.shared()) // strings
			with = append(with, fmt.Sprintf(`the rule limited by "matchesPrefix": %s`, quoted))
		}
		if shared {
			with = append(with, fmt.Sprintf(`"age": %d in the rule`, expiry.Days))
		}
		return Bad(fmt.Sprintf(`gcloud storage buckets update gs://%s --lifecycle-file=FILE, with %s`, bucket, strings.Join(with, " and ")), "%s", text)
	}
	f := Bad(c.FixCommand, "%s", text)
	f.Repair = func(ctx context.Context) (string, error) { return c.narrow(ctx, bucket, b) }
	return f
}

// softDelete says that a bucket keeps what jobs replace and delete, "" if it does not.
func softDelete(bucket string, b *storage.Bucket) string {
	if b.SoftDeletePolicy == nil || b.SoftDeletePolicy.RetentionDurationSeconds == 0 {
		return ""
	}
	kept := time.Duration(b.SoftDeletePolicy.RetentionDurationSeconds) * time.Second
	return fmt.Sprintf("; but soft delete is on: each checkpoint that a job replaces is charged for %d more days; "+
		"turn it off with gcloud storage buckets update gs://%s --clear-soft-delete", int(kept.Hours()/24), bucket)
}

// late reports whether a rule keeps objects for longer than that of keras-kinetic does: someone has decided that.
func late(r *storage.BucketLifecycleRule) bool {
	return r.Condition.Age != nil && *r.Condition.Age > expiry.Days
}

// mayNarrow reports whether the bucket's rules can be changed without a question: it is the store that comes
// with the cluster and has nothing else in it, it is not in another project, and the rules are those that it
// was made with.
func (c *cloud) mayNarrow(b *storage.Bucket) bool {
	return c.Target.Store == bucketScheme+c.ownBucket() && !c.isOfOthers(b) && infracloud.Labelled(b.Labels) &&
		!slices.ContainsFunc(b.Lifecycle.Rule, func(r *storage.BucketLifecycleRule) bool {
			return expiry.DeletesAll(r) && !expiry.IsPythons(r)
		})
}

// keeps reports whether the bucket's rules can be written again without a loss.
func (c *cloud) keeps(ctx context.Context, bucket string, b *storage.Bucket) bool {
	keeps, err := expiry.Keeps(ctx, c.api().Client(), c.api().Storage.BasePath, bucket, b.Lifecycle.Rule)
	return err == nil && keeps
}

func (c *cloud) ownBucket() string {
	return config.Names{Project: c.Target.Project, Zone: c.Target.Zone, Cluster: c.Target.Cluster}.Jobs()
}

// owner returns the bucket that is the cluster's with the number of its project; nothing of another one.
func (c *cloud) owner(ctx context.Context) (*storage.Bucket, error) {
	bucket, _ := bucketOf(c.Target.Store)
	if bucket != c.ownBucket() {
		return &storage.Bucket{}, nil
	}
	return c.api().Storage.Buckets.Get(bucket).Fields("projectNumber").Context(ctx).Do()
}

// isOfOthers reports whether the bucket that would be the cluster's is in another project, where anyone can
// have taken the name. A bucket with another name was chosen on purpose.
func (c *cloud) isOfOthers(b *storage.Bucket) bool {
	c.mu.Lock()
	number := c.number
	c.mu.Unlock()
	bucket, _ := bucketOf(c.Target.Store)
	return number != 0 && bucket == c.ownBucket() && b.ProjectNumber != 0 && b.ProjectNumber != uint64(number)
}

// mayBeOfOthers reports whether the bucket that would be the cluster's may be in another project, since nobody
// says whose it is.
func (c *cloud) mayBeOfOthers(unseen error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.number != 0 && isRefused(unseen)
}

// shared returns the prefixes of what jobs can upload again.
func (c *cloud) shared() []string { return expiry.Shared(c.folder()) }

// folder returns the store's folder in its bucket, "" for none.
func (c *cloud) folder() string {
	_, folder, _ := strings.Cut(strings.TrimPrefix(c.Target.Store, bucketScheme), "/")
	return folder
}

func age(r *storage.BucketLifecycleRule) string {
	if r.Condition.Age == nil {
		return ""
	}
	return fmt.Sprintf(" %d days after they were written", *r.Condition.Age)
}

// narrow limits the rules to what jobs share and upload again. It fails if someone changes the bucket
// meanwhile.
func (c *cloud) narrow(ctx context.Context, bucket string, b *storage.Bucket) (string, error) {
	prefixes := c.shared()
	rules := slices.Clone(b.Lifecycle.Rule)
	for i, r := range rules {
		if expiry.DeletesAll(r) {
			rules[i] = expiry.Narrow(r, prefixes)
		}
	}
	change := &storage.Bucket{Lifecycle: &storage.BucketLifecycle{Rule: rules}}
	_, err := c.api().Storage.Buckets.Patch(bucket, change).IfMetagenerationMatch(b.Metageneration).Context(ctx).Do()
	if err != nil {
		return "", c.api().Explain(err, c.Target.Project, "narrowing the rules of the bucket "+bucket)
	}
	return fmt.Sprintf("limited the deletion rule of the bucket %s to %s", bucket, strings.Join(prefixes, " and ")), nil
}
