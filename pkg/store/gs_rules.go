package store

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	raw "google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/store/expiry"
)

// DeletedAfter returns after how many days rules of a store's bucket delete all objects below a prefix. It returns 0 if
// none does, and if the rules can't be read: people who run jobs need no permission to read them.
func DeletedAfter(ctx context.Context, s Store, prefix string) int64 {
	gs, ok := s.(*gsStore)
	if !ok {
		return 0
	}
	var days int64
	for _, r := range gs.rules(ctx) {
		if age := expiry.AgeOf(r, gs.prefix+prefix); age > 0 && (days == 0 || age < days) {
			days = age
		}
	}
	return days
}

// rules returns the lifecycle rules of the bucket, nil if they can't be read.
func (s *gsStore) rules(ctx context.Context) []*raw.BucketLifecycleRule {
	client, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, storageURL()+"/storage/v1/b/"+url.PathEscape(s.bucket)+"?fields=lifecycle", nil)
	if err != nil {
		return nil
	}
	answer, err := client.http.Do(r)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	var bucket raw.Bucket
	if answer.StatusCode != http.StatusOK || json.NewDecoder(answer.Body).Decode(&bucket) != nil || bucket.Lifecycle == nil {
		return nil
	}
	return bucket.Lifecycle.Rule
}
