package pack_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

// countRequests returns how many requests do takes.
func countRequests(b *storetest.Bucket, do func()) (n int) {
	b.Before(func(*http.Request) { n++ })
	do()
	b.Intercept(nil)
	return n
}

// treeIn reads the tree of a data set back: links with an arrow, and empty directories with a
// slash.
func treeIn(t testing.TB, b *storetest.Bucket, sha256 string) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := storetest.Prefix + store.DataTree(sha256)
	for _, o := range b.Objects(t, root) {
		found, err := b.Fake.GetObject(storetest.BucketName, o.Name)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(o.Name, root)
		all[path] = string(found.Content)
		if target := found.Metadata["gcsfuse_symlink_target"]; target != "" {
			all[path] += "-> " + target
		}
	}
	return all
}

// age makes those objects older whose names have an end.
func age(t testing.TB, b *storetest.Bucket, by time.Duration, end string) {
	t.Helper()
	for _, o := range b.Objects(t, "") {
		if !strings.HasSuffix(o.Name, end) {
			continue
		}
		found, err := b.Fake.GetObject(storetest.BucketName, o.Name)
		if err != nil {
			t.Fatal(err)
		}
		found.Created, found.Updated = o.Created.Add(-by), o.Updated.Add(-by)
		b.Fake.CreateObject(found)
	}
}
