package prune

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// sha is the n-th hash in the order of names.
func sha(n int) string { return strings.Repeat("0123456789abcdef"[n:n+1], 64) }

// What is listed, and what is named, says what goes.
func TestWhatNothingNamesGoes(t *testing.T) {
	limit := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	old, young := limit.Add(-time.Second), limit
	objects := func(age time.Time, names ...string) (all []store.Object) {
		for _, name := range names {
			all = append(all, store.Object{Name: name, Size: 2, Updated: age})
		}
		return all
	}
	dir := "data/" + sha(5)
	for name, tt := range map[string]struct {
		listed []store.Object
		named  []string
		want   []string
	}{
		"nothing is listed":           {named: []string{sha(1)}},
		"nothing is named":            {objects(old, store.Blob(sha(1)), store.Blob(sha(2))), nil, []string{store.Blob(sha(1)), store.Blob(sha(2))}},
		"one is named":                {objects(old, store.Blob(sha(1)), store.Blob(sha(2)), store.Blob(sha(3))), []string{sha(2)}, []string{store.Blob(sha(1)), store.Blob(sha(3))}},
		"the named one is missing":    {objects(old, store.Blob(sha(1))), []string{sha(2)}, []string{store.Blob(sha(1))}},
		"named twice":                 {objects(old, store.Blob(sha(1))), []string{sha(1), sha(1)}, nil},
		"young":                       {objects(young, store.Blob(sha(1)), dir+".json", dir+"/x"), nil, nil},
		"names of other forms":        {objects(old, "blobs/x", "blobs/sha256/00/"+sha(1), "data/x/y", "data/x.json", "data/"+sha(1), "a1/handle.json"), nil, nil},
		"a directory":                 {objects(old, dir+".json", dir+"/a/b", dir+"/x"), []string{sha(4)}, []string{dir + "/"}},
		"a named directory":           {objects(old, dir+".json", dir+"/a/b", dir+"/x"), []string{sha(5)}, nil},
		"a directory without record":  {objects(old, dir+"/a/b"), nil, []string{dir + "/"}},
		"a directory partly renewed":  {append(objects(old, dir+"/a/b"), objects(young, dir+"/x")...), nil, nil},
		"a record that was renewed":   {append(objects(young, dir+".json"), objects(old, dir+"/x")...), nil, nil},
		"what is named is not a hash": {objects(old, store.Blob(sha(1))), []string{"", "x", sha(1)[:63], strings.ToUpper(sha(10))}, []string{store.Blob(sha(1))}},
	} {
		t.Run(name, func(t *testing.T) {
			l := listing{trees: map[string]*tree{}}
			for _, o := range tt.listed {
				l.add(o)
			}
			for _, word := range tt.named {
				l.name(word)
			}
			l.reduce(limit)
			var got []string
			for item := range l.items() {
				got = append(got, item.Name)
				if item.Bytes != 2*int64(item.Objects) || !slices.Contains([]time.Time{old, young}, item.Updated) {
					t.Errorf("%+v", item)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
