//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// buckets serves Cloud Storage where jobs run: buckets, their settings and their policies are those of the Google
// Cloud of the demo, and what is in them is in the server that jobs use. A bucket is made and deleted in both.
type buckets struct {
	emulator       *url.URL
	google, inside *httputil.ReverseProxy
}

// root is what stands before /storage/v1 in the paths of gcptest.
const root = "/" + string(gcp.Storage)

// serveBuckets starts such a server. Close what it returns.
func serveBuckets(server *gcptest.Server, emulator string) (*httptest.Server, error) {
	google, err := url.Parse(server.URL)
	if err != nil {
		return nil, err
	}
	b := &buckets{google: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(google) }}}
	if b.emulator, err = url.Parse(emulator); err != nil {
		return nil, fmt.Errorf("STORAGE_EMULATOR_HOST %s: %w", emulator, err)
	}
	b.inside = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.Path, root), strings.TrimPrefix(r.Out.URL.RawPath, root)
		r.SetURL(b.emulator)
		r.Out.Header.Del("Authorization")
	}}
	return httptest.NewServer(b), nil
}

// ServeHTTP implements http.Handler.
func (b *buckets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest := strings.TrimPrefix(r.URL.EscapedPath(), root+"/storage/v1/b")
	name, in, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	switch {
	case in == "o" || strings.HasPrefix(in, "o/"):
		b.inside.ServeHTTP(w, r)
	case r.Method == http.MethodPost && name == "":
		b.create(w, r)
	case r.Method == http.MethodDelete && in == "":
		b.both(w, r, b.inside)
	default:
		b.google.ServeHTTP(w, r)
	}
}

// create makes a bucket, also where jobs find it.
func (b *buckets) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var wanted struct {
		Name string `json:"name"`
	}
	if err == nil {
		err = json.Unmarshal(body, &wanted)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	plain, _ := json.Marshal(wanted) // a struct with a string always can be
	b.both(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inside := r.Clone(r.Context())
		inside.Body, inside.ContentLength = io.NopCloser(bytes.NewReader(plain)), int64(len(plain))
		b.inside.ServeHTTP(w, inside)
	}))
}

// both has a request done where the objects are and, if that has worked or nothing was to do, in Google Cloud, which
// answers.
func (b *buckets) both(w http.ResponseWriter, r *http.Request, inside http.Handler) {
	answer := httptest.NewRecorder()
	inside.ServeHTTP(answer, r)
	if answer.Code >= http.StatusBadRequest && answer.Code != http.StatusNotFound && answer.Code != http.StatusConflict {
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
		return
	}
	b.google.ServeHTTP(w, r)
}
