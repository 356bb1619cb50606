//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestSuspendedTakesTheJobOutOfManifests(t *testing.T) {
	job, err := suspended(`{"kind":"List","items":[{"kind":"ConfigMap","data":{}},{"kind":"Job","metadata":{"name":"a"},"spec":{"suspend":false}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata struct{ Name string }
		Spec     struct {
			Suspend   bool
			ManagedBy string
		}
	}
	if err := json.Unmarshal([]byte(job), &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Name != "a" || !got.Spec.Suspend || got.Spec.ManagedBy == "" {
		t.Errorf("%s: want Job a, suspended, with a manager of its own", job)
	}
	if job, err := suspended(`{"kind":"List","items":[{"kind":"ConfigMap"}]}`); err == nil {
		t.Errorf("manifests without a Job give %s", job)
	}
}

func TestCounterPassesRequestsOnAndCountsThem(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+string(body))
	}))
	defer server.Close()
	counted, err := countRequests(server.URL, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	defer counted.Close()
	for range 3 {
		answer, err := open(t.Context(), http.DefaultClient, http.MethodPost, counted.URL+"/a%2Fb?c=d", "e")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer)
		if err != nil || string(text) != "POST /a%2Fb?c=d e" {
			t.Errorf("got %q, %v", text, err)
		}
		answer.Close()
	}
	if n := counted.count.Load(); n != 3 {
		t.Errorf("counted %d requests, want 3", n)
	}
}
