// Package expiry has the rules by which a bucket deletes objects: that of a store, which rules delete
// results of jobs, and how they are limited to what jobs can upload again.
package expiry

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Days is how long what jobs share lives after it was last used: a job that uses it renews it.
const Days = 30

const actionDelete = "Delete"

// Shared returns the prefixes of what jobs share in a store and upload again when it is gone, and of the messages
// to warm hosts, which a lost host leaves. Results, logs and outputs have others. folder is that of the store in its bucket, "" for none.
func Shared(folder string) []string {
	folder = slashed(folder)
	return []string{folder + "blobs/", folder + "data/", folder + api.PathwaysScratch + "/", folder + "warm/"}
}

// slashed returns what the names of a folder's objects begin with.
func slashed(folder string) string {
	if folder == "" {
		return ""
	}
	return strings.TrimSuffix(folder, "/") + "/"
}

// Expire returns the rule that deletes objects with one of the prefixes after Days, all objects if there is
// no prefix.
func Expire(prefixes []string) *storage.BucketLifecycleRule {
	age := int64(Days)
	return &storage.BucketLifecycleRule{
		Action:    &storage.BucketLifecycleRuleAction{Type: actionDelete},
		Condition: &storage.BucketLifecycleRuleCondition{Age: &age, MatchesPrefix: prefixes},
	}
}

// Deletes reports whether a rule deletes objects that have not been replaced or deleted before. A condition
// that is not known here is taken for one that excludes them.
func Deletes(r *storage.BucketLifecycleRule) bool {
	if r.Action == nil || r.Action.Type != actionDelete || !known(r) {
		return false
	}
	c := r.Condition
	old := c.IsLive != nil && !*c.IsLive || c.NumNewerVersions > 0 || c.DaysSinceNoncurrentTime > 0 || c.NoncurrentTimeBefore != ""
	return !old
}

// DeletesAll reports whether a rule deletes objects whatever their names. One for certain names was written
// for them.
func DeletesAll(r *storage.BucketLifecycleRule) bool {
	return Deletes(r) && (len(r.Condition.MatchesPrefix) == 0 || slices.Contains(r.Condition.MatchesPrefix, "")) &&
		len(r.Condition.MatchesSuffix) == 0 && r.Condition.MatchesPattern == ""
}

// Harms reports whether a rule deletes results and outputs of a store in a folder of its bucket, at any age, and
// whether it deletes what jobs share before Days are over. A prefix with a whole name in it was written for that one,
// which is something else in the bucket or a single job.
func Harms(r *storage.BucketLifecycleRule, folder string) (results, shared bool) {
	if !Deletes(r) {
		return false, false
	}
	folder = slashed(folder)
	early := r.Condition.Age != nil && *r.Condition.Age < Days
	prefixes := r.Condition.MatchesPrefix
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, p := range prefixes {
		name, inside := strings.CutPrefix(p, folder)
		results = results || strings.HasPrefix(folder, p) || inside && !strings.Contains(name, "/")
		shared = shared || early && slices.ContainsFunc(Shared(folder), func(s string) bool {
			return strings.HasPrefix(p, s) || strings.HasPrefix(s, p)
		})
	}
	return results, shared
}

// AgeOf returns at how many days a rule deletes all objects below a prefix, 0 if it doesn't, or only those that meet another
// condition, too.
func AgeOf(r *storage.BucketLifecycleRule, prefix string) int64 {
	if r.Action == nil || r.Action.Type != actionDelete || r.Condition == nil || r.Condition.Age == nil {
		return 0
	}
	rest := *r.Condition
	rest.Age, rest.MatchesPrefix = nil, nil
	below := func(p string) bool { return strings.HasPrefix(prefix, p) }
	if !reflect.DeepEqual(rest, storage.BucketLifecycleRuleCondition{}) || len(r.Condition.MatchesPrefix) > 0 && !slices.ContainsFunc(r.Condition.MatchesPrefix, below) {
		return 0
	}
	return *r.Condition.Age
}

// known reports whether this version knows at least one condition of a rule. Each rule has one.
func known(r *storage.BucketLifecycleRule) bool {
	return r.Condition != nil && !reflect.DeepEqual(*r.Condition, storage.BucketLifecycleRuleCondition{})
}

// IsPythons reports whether a rule is the one that the Python package gives its buckets, which deletes all
// objects after Days.
func IsPythons(r *storage.BucketLifecycleRule) bool { return reflect.DeepEqual(r, Expire(nil)) }

// Narrow returns a rule that deletes only objects with one of the prefixes, and else is like r.
func Narrow(r *storage.BucketLifecycleRule, prefixes []string) *storage.BucketLifecycleRule {
	condition := *r.Condition
	condition.MatchesPrefix = prefixes
	return &storage.BucketLifecycleRule{Action: r.Action, Condition: &condition}
}

// Covers reports whether one of the rules deletes objects with a prefix.
func Covers(rules []*storage.BucketLifecycleRule, prefix string) bool {
	return slices.ContainsFunc(rules, func(r *storage.BucketLifecycleRule) bool {
		return DeletesAll(r) || Deletes(r) && slices.Contains(r.Condition.MatchesPrefix, prefix)
	})
}

// Text says what a rule that deletes objects does: deletes blobs/, data/, pathways/ and warm/ after 30 days.
func Text(r *storage.BucketLifecycleRule) string {
	prefixes := r.Condition.MatchesPrefix
	what := strings.Join(prefixes, " and ")
	if last := len(prefixes) - 1; last > 1 {
		what = strings.Join(prefixes[:last], ", ") + " and " + prefixes[last]
	}
	if what == "" {
		what = "everything"
	}
	text := "deletes " + what
	if age := r.Condition.Age; age != nil && *age == 1 {
		text += " after a day"
	} else if age != nil {
		text += fmt.Sprintf(" after %d days", *age)
	}
	rest := *r.Condition
	rest.Age, rest.MatchesPrefix = nil, nil
	if other, err := json.Marshal(rest); err == nil && string(other) != "{}" {
		text += ", only " + string(other)
	}
	return text
}
