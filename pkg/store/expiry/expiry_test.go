package expiry

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"google.golang.org/api/storage/v1"
)

func parse(t *testing.T, text string) *storage.BucketLifecycleRule {
	t.Helper()
	var r storage.BucketLifecycleRule
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func TestRules(t *testing.T) {
	for condition, want := range map[string]struct {
		deletes, all, python bool
		text                 string
	}{
		`{"age":30}`:                             {true, true, true, "deletes everything after 30 days"},
		`{"age":31}`:                             {true, true, false, "deletes everything after 31 days"},
		`{"age":0}`:                              {true, true, false, "deletes everything after 0 days"},
		`{"age":30,"isLive":true}`:               {true, true, false, `deletes everything after 30 days, only {"isLive":true}`},
		`{"age":30,"isLive":false}`:              {false, false, false, `deletes everything after 30 days, only {"isLive":false}`},
		`{"numNewerVersions":3}`:                 {false, false, false, `deletes everything, only {"numNewerVersions":3}`},
		`{"daysSinceNoncurrentTime":7}`:          {false, false, false, `deletes everything, only {"daysSinceNoncurrentTime":7}`},
		`{"noncurrentTimeBefore":"2026-01-02"}`:  {false, false, false, `deletes everything, only {"noncurrentTimeBefore":"2026-01-02"}`},
		`{"createdBefore":"2026-01-02"}`:         {true, true, false, `deletes everything, only {"createdBefore":"2026-01-02"}`},
		`{"age":30,"matchesPrefix":[""]}`:        {true, true, false, "deletes everything after 30 days"},
		`{"age":30,"matchesPrefix":["a","b"]}`:   {true, false, false, "deletes a and b after 30 days"},
		`{"age":30,"matchesSuffix":[".log"]}`:    {true, false, false, `deletes everything after 30 days, only {"matchesSuffix":[".log"]}`},
		`{"age":1,"matchesPattern":"a*"}`:        {true, false, false, `deletes everything after a day, only {"matchesPattern":"a*"}`},
		`{"age":1,"matchesStorageClass":["A"]}`:  {true, true, false, `deletes everything after a day, only {"matchesStorageClass":["A"]}`},
		`{"aConditionThatNoOneKnows":"for now"}`: {false, false, false, "deletes everything"},
	} {
		r := parse(t, `{"action":{"type":"Delete"},"condition":`+condition+`}`)
		if got := Deletes(r); got != want.deletes {
			t.Errorf("%s deletes objects: got %t", condition, got)
		}
		if got := DeletesAll(r); got != want.all {
			t.Errorf("%s deletes all: got %t", condition, got)
		}
		if got := IsPythons(r); got != want.python {
			t.Errorf("%s is the Python package's: got %t", condition, got)
		}
		if got := Text(r); got != want.text {
			t.Errorf("%s: got %q, want %q", condition, got, want.text)
		}
		r.Action.Type = "SetStorageClass"
		if Deletes(r) || DeletesAll(r) || IsPythons(r) {
			t.Errorf("%s for a storage class deletes objects", condition)
		}
	}
}

func TestHarms(t *testing.T) {
	type harm struct{ results, shared bool }
	for folder, rules := range map[string]map[string]harm{
		"": {
			`{"age":30}`:                                 {true, false},
			`{"age":7}`:                                  {true, true},
			`{"createdBefore":"2026-01-02"}`:             {true, false},
			`{"age":1,"isLive":false}`:                   {false, false},
			`{"age":1,"matchesPrefix":["tpu-","cpu-"]}`:  {true, false},
			`{"age":1,"matchesPrefix":["tmp/","tpu-"]}`:  {true, false},
			`{"age":1,"matchesPrefix":["tmp/","a/b"]}`:   {false, false}, // other things, or one job
			`{"age":1,"matchesSuffix":[".pkl"]}`:         {true, true},
			`{"age":30,"matchesPattern":"*.pkl"}`:        {true, false},
			`{"age":30,"matchesPrefix":["blobs/"]}`:      {false, false},
			`{"age":29,"matchesPrefix":["blobs/"]}`:      {false, true},
			`{"age":0,"matchesPrefix":["x/","data/ab"]}`: {false, true},
			`{"age":30,"matchesPrefix":["data"]}`:        {true, false}, // also those of a job data-1
			`{"age":1,"matchesPrefix":["team/blobs/"]}`:  {false, false},
		},
		"team": {
			`{"age":30}`:                                {true, false},
			`{"age":7,"matchesPrefix":["team/"]}`:       {true, true},
			`{"age":30,"matchesPrefix":["te"]}`:         {true, false},
			`{"age":7,"matchesPrefix":["team/tpu-"]}`:   {true, false},
			`{"age":7,"matchesPrefix":["team/blobs/"]}`: {false, true},
			`{"age":7,"matchesPrefix":["teams","x/"]}`:  {false, false},
			`{"age":7,"matchesPrefix":["blobs/"]}`:      {false, false},
			`{"age":30,"matchesSuffix":[".pkl"]}`:       {true, false},
		},
	} {
		for condition, want := range rules {
			var got harm
			r := parse(t, `{"action":{"type":"Delete"},"condition":`+condition+`}`)
			if got.results, got.shared = Harms(r, folder); got != want {
				t.Errorf("%s, in folder %q: got %+v, want %+v", condition, folder, got, want)
			}
			r.Action.Type = "SetStorageClass"
			if results, shared := Harms(r, folder); results || shared {
				t.Errorf("%s for a storage class does harm", condition)
			}
		}
	}
}

// What is written replaces all rules, so a condition that the types lack would be lost.
func TestKeeps(t *testing.T) {
	for rules, want := range map[string]bool{
		`[{"action":{"type":"Delete"},"condition":{"age":30}}]`:                                           true,
		`[{"action":{"type":"Delete"},"condition":{"age":0,"isLive":false,"matchesPrefix":["a/","b/"]}}]`: true,
		`[{"action":{"type":"SetStorageClass","storageClass":"NEARLINE"},"condition":{"age":9}}]`:         true,
		`[{"action":{"type":"Delete"},"condition":{"age":30,"later":true}}]`:                              false,
		`[{"action":{"type":"Delete"},"condition":{"later":true}}]`:                                       false,
		`[{"action":{"type":"Delete","later":true},"condition":{"age":30}}]`:                              false,
		`[{"action":{"type":"Delete"},"condition":{"age":30},"later":true}]`:                              false,
	} {
		answer := `{"lifecycle":{"rule":` + rules + `}}`
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/storage/v1/b/acme" || r.URL.RawQuery != "fields=lifecycle" {
				t.Errorf("asked for %s", r.URL)
			}
			_, _ = io.WriteString(w, answer)
		}))
		t.Cleanup(s.Close)
		var bucket storage.Bucket
		if err := json.Unmarshal([]byte(answer), &bucket); err != nil {
			t.Fatal(err)
		}
		got, err := Keeps(t.Context(), s.Client(), s.URL+"/storage/v1/", "acme", bucket.Lifecycle.Rule)
		if err != nil || got != want {
			t.Errorf("%s: got %t, %v", rules, got, err)
		}
	}
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	if got, err := Keeps(t.Context(), s.Client(), s.URL+"/", "acme", nil); err == nil || got {
		t.Errorf("without the bucket: got %t, %v", got, err)
	}
}

func TestNarrow(t *testing.T) {
	wide := parse(t, `{"action":{"type":"Delete"},"condition":{"age":30,"isLive":true}}`)
	narrow := Narrow(wide, Shared(""))
	if got, want := Text(narrow), `deletes blobs/, data/, pathways/ and warm/ after 30 days, only {"isLive":true}`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !DeletesAll(wide) || DeletesAll(narrow) {
		t.Error("the rule itself was changed, or its copy was not")
	}
	if rules := []*storage.BucketLifecycleRule{narrow}; !Covers(rules, "data/") || Covers(rules, "other/") || !Covers([]*storage.BucketLifecycleRule{wide}, "other/") {
		t.Error("what the rules cover is wrong")
	}
	if got := Shared("team/one/"); !slices.Equal(got, []string{"team/one/blobs/", "team/one/data/", "team/one/pathways/", "team/one/warm/"}) {
		t.Errorf("in a folder: got %q", got)
	}
}
