package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// interrupted yields some bytes, and then ends an upload.
type interrupted struct {
	left int
	end  func() error
}

func (r *interrupted) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, r.end()
	}
	n := min(len(p), r.left)
	r.left -= n
	return n, nil
}

// The body of an upload that ends early lacks its end. A server that takes what it got for
// the whole body would make an object of it.
func TestAnInterruptedUploadHasNoEnd(t *testing.T) {
	var whole, uploads atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, `{"error": {"code": 404, "message": "No such object"}}`, http.StatusNotFound)
			return
		}
		uploads.Add(1)
		body, _ := io.ReadAll(r.Body)
		if bytes.HasSuffix(bytes.TrimSpace(body), []byte("--")) {
			whole.Add(1)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	for range 40 {
		s, err := Open("gs://bucket")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		source := &interrupted{left: 3 << 20, end: func() error { cancel(); return errors.New("interrupted") }}
		_, err = s.PutBlob(ctx, strings.Repeat("ab", 32), 8<<20, func() (io.ReadCloser, error) { return io.NopCloser(source), nil })
		if err == nil {
			t.Fatal("the upload succeeded")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if uploads.Load() == 0 || whole.Load() > 0 {
		t.Errorf("%d of %d interrupted uploads have an end", whole.Load(), uploads.Load())
	}
}
