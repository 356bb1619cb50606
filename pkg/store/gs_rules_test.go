package store

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestDeletedAfter(t *testing.T) {
	for name, tt := range map[string]struct {
		url, rules string
		status     int
		want       int64
	}{
		"the Python tool's rule": {url: "gs://acme-jobs", rules: `{"action":{"type":"Delete"},"condition":{"age":30}}`, want: 30},
		"the earliest counts": {url: "gs://acme-jobs", want: 7,
			rules: `{"action":{"type":"Delete"},"condition":{"age":30}},{"action":{"type":"Delete"},"condition":{"age":7}}`},
		"only what is uploaded again": {url: "gs://acme-jobs", rules: `{"action":{"type":"Delete"},"condition":{"age":30,"matchesPrefix":["blobs/","data/"]}}`},
		"another folder":              {url: "gs://acme-jobs/ml", rules: `{"action":{"type":"Delete"},"condition":{"age":30,"matchesPrefix":["tmp/"]}}`},
		"the folder of the store":     {url: "gs://acme-jobs/ml", rules: `{"action":{"type":"Delete"},"condition":{"age":30,"matchesPrefix":["ml/"]}}`, want: 30},
		"not deleted":                 {url: "gs://acme-jobs", rules: `{"action":{"type":"SetStorageClass"},"condition":{"age":30}}`},
		"other jobs":                  {url: "gs://acme-jobs", rules: `{"action":{"type":"Delete"},"condition":{"age":1,"matchesPrefix":["tpu-"]}}`},
		"some files":                  {url: "gs://acme-jobs", rules: `{"action":{"type":"Delete"},"condition":{"age":1,"matchesSuffix":[".tmp"]}}`},
		"rarely":                      {url: "gs://acme-jobs", rules: `{"action":{"type":"Delete"},"condition":{"age":1,"matchesStorageClass":["COLDLINE"]}}`},
		"without an age":              {url: "gs://acme-jobs", rules: `{"action":{"type":"Delete"},"condition":{"createdBefore":"2026-01-02"}}`},
		"no permission":               {url: "gs://acme-jobs", rules: `{"action":{"type":"Delete"},"condition":{"age":30}}`, status: http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/storage/v1/b/acme-jobs" {
					t.Errorf("asked for %s", r.URL)
				}
				w.WriteHeader(max(tt.status, http.StatusOK))
				fmt.Fprintf(w, `{"lifecycle":{"rule":[%s]}}`, tt.rules)
			}))
			defer server.Close()
			t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
			s, err := Open(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := DeletedAfter(t.Context(), s, "cpu-train/outputs/"); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
