package google

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/store/expiry"
)

type bucket struct {
	*Project
	id infra.ID
	// expires are the prefixes of what is deleted after some time, all if there are none.
	expires []string
}

func (b bucket) wanted() *storage.Bucket {
	return &storage.Bucket{
		Name: b.id.Name, Location: b.Names.Region(), Labels: gke.ResourceLabels(),
		IamConfiguration: security(),
		Lifecycle:        &storage.BucketLifecycle{Rule: []*storage.BucketLifecycleRule{expiry.Expire(b.expires)}},
		// A week of everything that is overwritten would be paid for.
		SoftDeletePolicy: &storage.BucketSoftDeletePolicy{RetentionDurationSeconds: 0, ForceSendFields: []string{"RetentionDurationSeconds"}},
	}
}

// security returns access by policies alone, and never by everyone.
func security() *storage.BucketIamConfiguration {
	return &storage.BucketIamConfiguration{
		UniformBucketLevelAccess: &storage.BucketIamConfigurationUniformBucketLevelAccess{Enabled: true},
		PublicAccessPrevention:   "enforced",
	}
}

func (b bucket) Get(ctx context.Context) (infra.State, error) {
	found, err := b.read(ctx)
	if b.absent(ctx, err) {
		return infra.State{Detail: "in " + b.Names.Region() + ", " + expiry.Text(expiry.Expire(b.expires))}, nil
	}
	if err != nil {
		err = b.explain(err, "reading", b.id)
		if explained, ok := errors.AsType[*transport.Explained](err); ok && explained.Of == api.KindExists {
			return infra.State{Taken: err}, nil
		}
		return infra.State{}, err
	}
	s := b.existing(b.id, Labelled(found.Labels))
	s.Detail, s.Differences = "in "+strings.ToLower(found.Location), b.differences(found)
	// options are those of gcloud for the settings.
	options := map[string]string{
		uniformAccess: "--uniform-bucket-level-access", noPublic: "--public-access-prevention", ruleSetting: "--lifecycle-file=FILE",
	}
	if s.Foreign {
		for i, d := range s.Differences {
			if !d.Fixed {
				s.Differences[i].Command = "gcloud storage buckets update gs://" + b.id.Name + " " + options[d.Setting]
			}
		}
	}
	return s, nil
}

// The settings that are compared.
const (
	uniformAccess = "uniform bucket-level access"
	noPublic      = "public access prevention"
	ruleSetting   = "lifecycle"
)

// read returns the bucket. A bucket of another project is an error: whoever owns it could read and change
// what jobs store. Names of buckets are those of all projects, so that anyone can have taken this one.
func (b bucket) read(ctx context.Context) (*storage.Bucket, error) {
	var number uint64
	var unknown error
	var asking sync.WaitGroup
	asking.Go(func() { number, unknown = b.number(ctx) }) // at the same time: most buckets are ours
	found, err := b.services.Storage.Buckets.Get(b.id.Name).Context(ctx).Do()
	asking.Wait()
	if hidden(err) {
		return nil, &transport.Explained{Of: api.KindExists, Cause: err, Text: fmt.Sprintf(
			"it may belong to another project: choose another name with --cluster; if it belongs to project %s: %v", b.Names.Project, b.explain(err, "reading", b.id))}
	}
	if err = cmp.Or(err, unknown); err != nil || found.ProjectNumber == number {
		return found, err
	}
	return nil, &transport.Explained{Of: api.KindExists, Text: fmt.Sprintf(
		"it belongs to another project, that with the number %d, and jobs of project %s must not use it: choose another name with --cluster", found.ProjectNumber, b.Names.Project)}
}

// hidden reports whether a bucket may not be read, as most of other projects.
func hidden(err error) bool {
	return gcp.IsStatus(err, http.StatusForbidden) && strings.Contains(gcp.MessageIn(err), "storage.buckets.get")
}

func (b bucket) differences(found *storage.Bucket) []infra.Difference {
	var all []infra.Difference
	if region := b.Names.Region(); !near(found, region) {
		all = append(all, infra.Difference{Setting: "location", Have: strings.ToLower(found.Location), Want: region, Fixed: true})
	}
	iam := found.IamConfiguration
	if iam == nil || iam.UniformBucketLevelAccess == nil || !iam.UniformBucketLevelAccess.Enabled {
		all = append(all, infra.Difference{Setting: uniformAccess, Have: "off", Want: "on"})
	}
	if iam == nil || iam.PublicAccessPrevention != "enforced" {
		all = append(all, infra.Difference{Setting: noPublic, Have: "off", Want: "on"})
	}
	_, changes := b.rules(found)
	return append(all, changes...)
}

// near reports whether a bucket has its objects in a region: that is its location, or one of several. Else each job would
// wait for them and pay for their way.
func near(found *storage.Bucket, region string) bool {
	if c := found.CustomPlacementConfig; c != nil && len(c.DataLocations) > 0 {
		return slices.ContainsFunc(c.DataLocations, func(each string) bool { return strings.EqualFold(each, region) })
	}
	location := strings.ToLower(found.Location)
	switch location {
	case "us", "asia":
		return strings.HasPrefix(region, location+"-")
	case "eu": // not London and Zurich, which are outside the European Union
		return strings.HasPrefix(region, "europe-") && region != "europe-west2" && region != "europe-west6"
	}
	pairs := map[string][]string{"nam4": {"us-central1", "us-east1"}, "asia1": {"asia-northeast1", "asia-northeast2"}, "eur4": {"europe-north1", "europe-west4"},
		"eur5": {"europe-west1", "europe-west2"}, "eur7": {"europe-west2", "europe-west3"}, "eur8": {"europe-west3", "europe-west6"}}
	return location == "" || location == region || slices.Contains(pairs[location], region)
}

// rules returns the rules that the bucket should have, and what they change. Of those that it has, one that
// deletes what must stay is limited to what expires, and the others stay as they are.
func (b bucket) rules(found *storage.Bucket) (rules []*storage.BucketLifecycleRule, changes []infra.Difference) {
	if found.Lifecycle != nil {
		rules = slices.Clone(found.Lifecycle.Rule)
	}
	if len(b.expires) == 0 {
		if slices.ContainsFunc(rules, expiry.Deletes) {
			return rules, nil // its owner has decided what goes when
		}
		return withRule(rules, nil, nil)
	}
	for i, r := range rules {
		if !expiry.DeletesAll(r) {
			continue
		}
		rules[i] = expiry.Narrow(r, b.expires)
		changes = append(changes, infra.Difference{Setting: ruleSetting, Have: expiry.Text(r), Want: expiry.Text(rules[i])})
	}
	missing := slices.DeleteFunc(slices.Clone(b.expires), func(prefix string) bool { return expiry.Covers(rules, prefix) })
	if len(missing) == 0 {
		return rules, changes
	}
	return withRule(rules, changes, missing)
}

// withRule adds the rule by which objects with some prefixes expire, and that change.
func withRule(rules []*storage.BucketLifecycleRule, changes []infra.Difference, prefixes []string) ([]*storage.BucketLifecycleRule, []infra.Difference) {
	r := expiry.Expire(prefixes)
	return append(rules, r), append(changes, infra.Difference{Setting: ruleSetting, Want: expiry.Text(r)})
}

func (b bucket) Ensure(ctx context.Context, have infra.State) error {
	if have.Exists {
		return b.explain(b.change(ctx, have), "changing", b.id)
	}
	_, err := b.services.Storage.Buckets.Insert(b.Names.Project, b.wanted()).Context(ctx).Do()
	if gcp.IsExists(err) { // ours, made meanwhile, or of another project
		_, err = b.read(ctx)
	}
	return b.explain(err, "creating", b.id)
}

// change changes the settings that differ, unless others differ now than when the plan was made.
func (b bucket) change(ctx context.Context, have infra.State) error {
	changed := func(err error) bool { return gcp.IsStatus(err, http.StatusPreconditionFailed) }
	return backoff.Retry(ctx, settlesWithin, changed, func() error {
		found, err := b.read(ctx)
		if err != nil {
			return err
		}
		now := b.differences(found)
		switch {
		case len(now) == 0: // an answer was lost, or someone else has done the same
			return nil
		case !slices.Equal(now, have.Differences):
			return &transport.Explained{Of: api.KindFailed, Text: "its settings have changed since the plan was made: repeat the command to see what would be changed"}
		}
		change := &storage.Bucket{IamConfiguration: security()}
		if rules, changes := b.rules(found); len(changes) > 0 {
			keeps, err := b.keepsRules(ctx, found)
			if err != nil {
				return err
			}
			if !keeps {
				return &transport.Explained{Of: api.KindFailed, Text: "it has a lifecycle rule with a condition that this version does not know, and would lose: change the rules with gcloud storage buckets update gs://" + b.id.Name + " --lifecycle-file=FILE"}
			}
			change.Lifecycle = &storage.BucketLifecycle{Rule: rules}
		}
		_, err = b.services.Storage.Buckets.Patch(b.id.Name, change).IfMetagenerationMatch(found.Metageneration).Context(ctx).Do()
		return err
	})
}

// deletions is how many objects are deleted at once.
const deletions = 32

// Delete implements infra.Actor. It deletes all objects, with their older versions.
func (b bucket) Delete(ctx context.Context) error {
	err := b.empty(ctx)
	if err == nil {
		err = b.services.Storage.Buckets.Delete(b.id.Name).Context(ctx).Do()
	}
	if b.absent(ctx, err) {
		return nil
	}
	return b.explain(err, "deleting", b.id)
}

// empty deletes the first page of objects until there is none.
func (b bucket) empty(ctx context.Context) error {
	objects := b.services.Storage.Objects
	for deleted := 0; ; {
		page, err := objects.List(b.id.Name).Versions(true).Fields("items(name,generation)").Context(ctx).Do()
		if err != nil || len(page.Items) == 0 {
			return err
		}
		_, failed := parallel.Collect(deletions, page.Items, func(o *storage.Object) (struct{}, error) {
			err := objects.Delete(b.id.Name, o.Name).Generation(o.Generation).Context(ctx).Do()
			if gcp.IsMissing(err) {
				err = nil
			}
			return struct{}{}, err
		})
		if len(failed) > 0 {
			return failed[0]
		}
		deleted += len(page.Items)
		b.Progress(b.id, fmt.Sprintf("%d objects deleted", deleted))
	}
}

// keepsRules reports whether the rules of the bucket can be written back without losing a condition.
func (b bucket) keepsRules(ctx context.Context, found *storage.Bucket) (bool, error) {
	if found.Lifecycle == nil {
		return true, nil
	}
	return expiry.Keeps(ctx, b.access.Client(), b.services.Storage.BasePath, b.id.Name, found.Lifecycle.Rule)
}
