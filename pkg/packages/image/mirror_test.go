package image_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestMirror: a base of Docker Hub comes from Google's copy if Docker Hub refuses or doesn't answer; where
// there is no copy, the error is Docker Hub's. No other registry is mirrored.
func TestMirror(t *testing.T) {
	t.Parallel()
	digest, err := python(t, "mirror").Digest()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		ref     string
		code    int // of Docker Hub; 0 for no answer
		copied  bool
		want    int // the status of the error; -1 for none
		without bool
	}{
		"it answers":             {"python:3.12-slim", 200, false, -1, true},
		"too many requests":      {"python:3.12-slim", 429, true, -1, false},
		"by digest":              {"python:3.12-slim@" + digest.String(), 429, true, -1, false},
		"failing":                {"python:3.12-slim", 503, true, -1, false},
		"no answer":              {"python:3.12-slim", 0, true, -1, false},
		"no copy":                {"python:3.12-slim", 429, false, 429, false},
		"refused":                {"python:3.12-slim", 403, true, 403, true},
		"of another registry":    {"registry.example/library/python:3.12-slim", 429, true, 429, true},
		"no answer, and no copy": {"python:3.12-slim", 0, false, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inProcess(t)
			s.put(t, "library/python:3.12-slim", python(t, "mirror"))
			c := client(t)
			var asked atomic.Bool
			c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Host != s.host {
					copied := r.URL.Host == "mirror.gcr.io"
					code := tt.code
					if copied {
						asked.Store(true)
						code = map[bool]int{true: 200, false: 404}[tt.copied]
					}
					if code == 0 {
						return nil, errors.New("no route to host")
					}
					if code != 200 {
						return &http.Response{StatusCode: code, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
					}
					r = r.Clone(r.Context())
					r.URL.Scheme, r.URL.Host, r.Host = "http", s.host, s.host
				}
				return http.DefaultTransport.RoundTrip(r)
			})
			got, err := c.BaseDigest(t.Context(), tt.ref, "amd64")
			_, inspected := c.Inspect(t.Context(), tt.ref, "amd64")
			if tt.want < 0 && (err != nil || inspected != nil || got != digest.String()) {
				t.Errorf("digest %q, %v; inspected: %v", got, err, inspected)
			}
			for _, err := range []error{err, inspected} {
				var refused *image.RegistryError
				if tt.want >= 0 && (!errors.As(err, &refused) || refused.Status() != tt.want || !refused.Reading() || strings.Contains(err.Error(), "mirror.gcr.io")) {
					t.Errorf("err = %v, want the status %d of Docker Hub", err, tt.want)
				}
			}
			if asked.Load() == tt.without {
				t.Errorf("the mirror was asked: %t", asked.Load())
			}
		})
	}
}
