//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kubectl-kinetic/kinetic/hack/bench/counter"
)

func TestCounterPassesRequestsOnAndCountsThem(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+string(body))
	}))
	defer server.Close()
	counted, err := counter.Of(server.URL, http.DefaultTransport)
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
	if n := counted.Count.Load(); n != 3 {
		t.Errorf("counted %d requests, want 3", n)
	}
}
