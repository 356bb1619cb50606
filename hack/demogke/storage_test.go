//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestBucketsAreInGoogleCloudAndTheirObjectsWhereJobsAre(t *testing.T) {
	var calls []string
	emulator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls = append(calls, strings.TrimSpace(r.Method+" "+r.URL.EscapedPath()+" "+string(body)))
		fmt.Fprint(w, `{"items": [{"name": "a/b", "generation": "1"}]}`)
	}))
	t.Cleanup(emulator.Close)
	server := gcptest.New(t)
	web, err := serveBuckets(server, emulator.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(web.Close)
	access, err := gcp.New(t.Context(), server.Env)
	if err != nil {
		t.Fatal(err)
	}
	client, err := storage.NewService(t.Context(), append(access.Options(gcp.Storage), option.WithEndpoint(web.URL+root+"/storage/v1/"))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Buckets.Insert("acme", &storage.Bucket{Name: "jobs", Location: "us"}).Do(); err != nil {
		t.Fatal(err)
	}
	if server.Bucket("jobs") == nil {
		t.Error("Google Cloud has no bucket")
	}
	objects, err := client.Objects.List("jobs").Do()
	if err != nil || len(objects.Items) != 1 {
		t.Fatalf("%v, %v", objects, err)
	}
	if err := client.Objects.Delete("jobs", "a/b").Do(); err != nil {
		t.Error(err)
	}
	if err := client.Buckets.Delete("jobs").Do(); err != nil || server.Bucket("jobs") != nil {
		t.Errorf("the bucket is still there: %v", err)
	}
	want := []string{`POST /storage/v1/b {"name":"jobs"}`, "GET /storage/v1/b/jobs/o", "DELETE /storage/v1/b/jobs/o/a%2Fb", "DELETE /storage/v1/b/jobs"}
	if !slices.Equal(calls, want) {
		t.Errorf("got %q, want %q", calls, want)
	}
}
