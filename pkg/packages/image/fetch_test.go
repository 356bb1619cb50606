package image_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// one is an environment of one wheel.
func one(t *testing.T, s *server, x *index) image.Env {
	t.Helper()
	e := small(t, s, x)
	e.Wheels = e.Wheels[:1]
	return e
}

func TestWheelsThatAreRefused(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := one(t, s, x)
	good := e.Wheels[0]
	broken := wheel.Source{File: "alpha-1.0-py3-none-any.whl", URL: x.url + "/broken", SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
	x.files["broken"] = nil
	for name, tt := range map[string]struct {
		change func(w *wheel.Source)
		want   string
	}{
		"hash":           {func(w *wheel.Source) { w.SHA256 = strings.Repeat("0", 64) }, " has the SHA-256 " + good.SHA256 + ", and its lock states 0000"},
		"hash of a file": {func(w *wheel.Source) { w.SHA256, w.Path = strings.Repeat("0", 64), write(t, x.files[good.File]) }, " has the SHA-256 " + good.SHA256},
		"longer":         {func(w *wheel.Source) { w.Size-- }, "does not have the "},
		"shorter":        {func(w *wheel.Source) { w.Size++ }, "does not have the "},
		"not there":      {func(w *wheel.Source) { w.URL += "x" }, "the answer is 404 Not Found; the file was removed, make the lock again"},
		"no file":        {func(w *wheel.Source) { w.Path = "/does/not/exist" }, "fetch alpha-1.0-py3-none-any.whl from /does/not/exist: open"},
		"no URL":         {func(w *wheel.Source) { w.URL = "http://[x" }, "fetch alpha-1.0-py3-none-any.whl from its URL: that is not a URL"},
		"a scheme":       {func(w *wheel.Source) { w.URL = "ftp://example.com/x" }, "unsupported protocol scheme"},
		"no wheel":       {func(w *wheel.Source) { *w = broken }, "the archive is damaged or incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			e := e
			e.Wheels = []wheel.Source{good}
			tt.change(&e.Wheels[0])
			var err error
			requests := s.since(func() { _, err = client(t).Make(context.Background(), s.repo(), e, image.Options{}) })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v\nwant %q in it", err, tt.want)
			}
			if w := writes(requests); len(w) != 0 {
				t.Errorf("it has sent %v", w)
			}
		})
	}
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.whl")
	put(t, path, data)
	return path
}

func TestLocalWheel(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := one(t, s, x)
	e.Wheels[0].Path, e.Wheels[0].URL, e.Wheels[0].Size = write(t, x.files[e.Wheels[0].File]), "", 0
	mustMake(t, client(t), s, e, image.Options{})
}

func TestIndexFailsNowAndThen(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := one(t, s, x)
	var requests atomic.Int64
	x.disturb = func(w http.ResponseWriter, r *http.Request) bool {
		switch requests.Add(1) {
		case 1:
			w.WriteHeader(http.StatusBadGateway)
			return true
		case 2: // half of it
			w.Header().Set("Content-Length", "30000")
			_, _ = w.Write(make([]byte, 15_000))
			return true
		case 3:
			return cut(w, r)
		}
		return false
	}
	mustMake(t, client(t), s, e, image.Options{})
	if requests.Load() != 4 {
		t.Errorf("%d requests", requests.Load())
	}
}

func TestIndexFails(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := one(t, s, x)
	e.Wheels[0].URL = strings.Replace(e.Wheels[0].URL, "http://", "http://user:secret@", 1) + "?token=secret"
	for code, tt := range map[int]struct {
		requests int64
		want     string
	}{401: {1, "check the credentials for this index"}, 403: {1, "check the credentials for this index"}, 404: {1, "make the lock again"}, 418: {1, "418"}, 503: {4, "503 Service Unavailable"}, 0: {4, "EOF"}} {
		var requests atomic.Int64
		x.mu.Lock()
		x.disturb = func(w http.ResponseWriter, r *http.Request) bool {
			requests.Add(1)
			if code == 0 {
				return cut(w, r)
			}
			w.WriteHeader(code)
			return true
		}
		x.mu.Unlock()
		_, err := client(t).Make(context.Background(), s.repo(), e, image.Options{})
		if err == nil || !strings.Contains(err.Error(), "fetch alpha-1.0-py3-none-any.whl from "+x.url+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d: err = %v, want %q in it", code, err, tt.want)
		}
		if strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%d: err = %v", code, err)
		}
		// Package http tries again by itself, too, if a connection was cut.
		if got := requests.Load(); got != tt.requests && (code != 0 || got < tt.requests) {
			t.Errorf("%d: %d requests, want %d", code, requests.Load(), tt.requests)
		}
	}
}

func TestTemporaryDirectoryCannotBeUsed(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	c := client(t)
	c.TempDir = "/does/not/exist"
	_, err := c.Make(context.Background(), s.repo(), one(t, s, x), image.Options{})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "make a directory for wheels: ") {
		t.Errorf("err = %v", err)
	}
}
