package image_test

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// small is an environment of three wheels.
func small(t testing.TB, s *server, x *index) image.Env {
	t.Helper()
	base := ""
	if t, ok := t.(*testing.T); ok {
		base = s.put(t, "library/python:3.12-slim", python(t, "one"))
	}
	return image.Env{Base: base, Arch: "amd64", Layout: layout, Wheels: []wheel.Source{
		x.module(t, "alpha", "1.0", 20_000), x.module(t, "beta", "1.0", 60_000), x.module(t, "gamma", "1.0", 40_000),
	}}
}

// files returns the files of an image as a container sees them.
func files(t *testing.T, i v1.Image) map[string]string {
	t.Helper()
	r := mutate.Extract(i)
	defer r.Close()
	all := map[string]string{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			all[h.Name] = string(data)
		case tar.TypeSymlink:
			all[h.Name] = "→ " + h.Linkname
		}
	}
}

func TestMake(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, s, x)
		c := client(t)
		var last image.Progress
		made := mustMake(t, c, s, e, image.Options{Progress: func(p image.Progress) { last = p }})

		// The base's layers, which the registry has, are mounted.
		if made.Sent < 120_000 || made.Sent > 120_000+30_000 {
			t.Errorf("sent %d bytes", made.Sent)
		}
		if made.There || made.Layers != 3 || len(made.Warnings) != 0 {
			t.Errorf("made %+v", made)
		}
		if want := (image.Progress{Wheels: 3, Done: 3, Sent: made.Sent}); last != want {
			t.Errorf("the last progress is %+v, want %+v", last, want)
		}
		i := s.image(t, tagOf(t, e))
		if err := validate.Image(i); err != nil {
			t.Error(err)
		}
		if digest, err := i.Digest(); err != nil || digest.String() != made.Digest || made.Image != s.repo()+"@"+made.Digest {
			t.Errorf("the registry has %v (%v), made is %+v", digest, err, made)
		}
		checkConfig(t, i)
		got := files(t, i)
		site := "opt/kinetic/env/lib/python3.12/site-packages/"
		for name, want := range map[string]string{
			"etc/mark":                   "one",
			site + "alpha/__init__.py":   "version = '1.0'\n",
			site + "beta/data.bin":       noise('b', 60_000),
			"opt/kinetic/env/bin/python": "→ /usr/local/bin/python3.12",
			"opt/kinetic/env/pyvenv.cfg": "home = /usr/local/bin\ninclude-system-site-packages = true\nversion = 3.12\n",
		} {
			if got[name] != want {
				t.Errorf("%s is %.80q, want %.80q", name, got[name], want)
			}
		}
		if left, err := os.ReadDir(c.TempDir); err != nil || len(left) != 0 {
			t.Errorf("in the temporary directory: %v, %v", left, err)
		}
	})
}

// checkConfig checks the variables and the order of layers.
func checkConfig(t *testing.T, i v1.Image) {
	t.Helper()
	config, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{"PATH=/opt/kinetic/env/bin:/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"}, official("3.12.7")[1:]...)
	if want = append(want, "VIRTUAL_ENV=/opt/kinetic/env"); !slices.Equal(config.Config.Env, want) {
		t.Errorf("the variables are %q, want %q", config.Config.Env, want)
	}
	m, err := i.Manifest()
	if err != nil || len(m.Layers) != 6 || len(config.History) != 6 {
		t.Fatalf("%d layers, %d in the history, %v", len(m.Layers), len(config.History), err)
	}
	if a, b, c := m.Layers[3].Size, m.Layers[4].Size, m.Layers[5].Size; a < 60_000 || a < b || b < c || c < 20_000 {
		t.Errorf("the layers of wheels have %d, %d and %d bytes, want the largest first", a, b, c)
	}
}

func TestUnchangedIsOneHead(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, s, x)
		first := mustMake(t, client(t), s, e, image.Options{})
		slices.Reverse(e.Wheels)
		var again image.Made
		requests := s.since(func() {
			if fetched := x.since(func() { again = mustMake(t, client(t), s, e, image.Options{}) }); len(fetched) != 0 {
				t.Errorf("fetched %v", fetched)
			}
		})
		if want := []string{"HEAD /v2/acme/env/manifests/" + tagOf(t, e)}; !slices.Equal(requests, want) {
			t.Errorf("requests:\n%s", strings.Join(requests, "\n"))
		}
		if !again.There || again.Digest != first.Digest || again.Sent != 0 {
			t.Errorf("made %+v, before that %+v", again, first)
		}
	})
}

func TestChangedWheelSendsItsBytesOnly(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, s, x)
		mustMake(t, client(t), s, e, image.Options{})
		e.Wheels[0] = x.module(t, "alpha", "1.1", 21_000)
		var made image.Made
		fetched := x.since(func() { made = mustMake(t, client(t), s, e, image.Options{}) })
		if want := []string{"alpha-1.1-py3-none-any.whl"}; !slices.Equal(fetched, want) {
			t.Errorf("fetched %v, want %v", fetched, want)
		}
		if made.Layers != 1 || made.Sent < 21_000 || made.Sent > 21_000+8_000 {
			t.Errorf("made %+v, want one layer of 21,000 bytes", made)
		}
	})
}

func TestSecondBaseSendsNoWheel(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, s, x)
		first := mustMake(t, client(t), s, e, image.Options{})
		e.Base = s.put(t, "library/python:3.12-other", python(t, "two"))
		var made image.Made
		fetched := x.since(func() { made = mustMake(t, client(t), s, e, image.Options{}) })
		if len(fetched) != 0 || made.Layers != 0 || made.Sent > 8_000 || made.Digest == first.Digest {
			t.Errorf("fetched %v, made %+v", fetched, made)
		}
		if got := files(t, s.image(t, tagOf(t, e)))["etc/mark"]; got != "two" {
			t.Errorf("the base is %q", got)
		}
	})
}

// A wheel's file is removed as soon as its layer was sent.
func TestFilesOfWheelsAreRemoved(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	c := client(t)
	wheels := func() int {
		found, err := filepath.Glob(filepath.Join(c.TempDir, "*", "wheel-*"))
		if err != nil {
			t.Error(err)
		}
		return len(found)
	}
	var mu sync.Mutex
	fetched, left := 0, -1
	s.with(func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPatch:
			fetched = max(fetched, wheels())
		case r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/manifests/e-"):
			left = wheels()
		}
		return false
	}, func() { mustMake(t, c, s, e, image.Options{}) })
	if fetched == 0 || left != 0 {
		t.Errorf("there were at least %d files, and %d at the end", fetched, left)
	}
}

// A base in another registry cannot be mounted: its layers are sent, once.
func TestBaseOfAnotherRegistry(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, inProcess(t), x)
		if made := mustMake(t, client(t), s, e, image.Options{}); made.Sent < 120_000+50_000 {
			t.Errorf("sent %d bytes, want the base's too", made.Sent)
		}
		if err := validate.Image(s.image(t, tagOf(t, e))); err != nil {
			t.Error(err)
		}
		e.Wheels = e.Wheels[1:]
		if made := mustMake(t, client(t), s, e, image.Options{}); made.Sent > 8_000 {
			t.Errorf("sent %d bytes, want no layer", made.Sent)
		}
	})
}

func TestTwoClientsAtOnce(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		e := small(t, s, newIndex(t))
		var digests [2]string
		var clients sync.WaitGroup
		for i := range digests {
			clients.Go(func() {
				made, err := client(t).Make(context.Background(), s.repo(), e, image.Options{})
				if err != nil {
					t.Error(err)
				}
				digests[i] = made.Digest
			})
		}
		clients.Wait()
		if digests[0] != digests[1] || digests[0] == "" {
			t.Errorf("the digests are %v", digests)
		}
	})
}

func TestNoWheels(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	e := image.Env{Base: s.put(t, "library/python:3.12", python(t, "")), Arch: "amd64", Layout: layout}
	if made := mustMake(t, client(t), s, e, image.Options{}); made.Digest == "" {
		t.Errorf("made %+v", made)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	var err error
	requests := s.since(func() {
		_, err = client(t).Make(context.Background(), s.repo(), e, image.Options{Limit: 100_000})
	})
	limit := new(image.LimitError)
	if !errors.As(err, &limit) || limit.Wheels != 3 || limit.Bytes < 120_000 || !strings.Contains(err.Error(), "and --image-upload-limit is 98 KiB") {
		t.Errorf("err = %v", err)
	}
	if w := writes(requests); len(w) != 0 {
		t.Errorf("it has sent %v", w)
	}
	unknown := e
	unknown.Wheels = slices.Clone(e.Wheels)
	for i := range unknown.Wheels { // not every resolver tells sizes
		unknown.Wheels[i].Size = 0
	}
	if _, err := client(t).Make(context.Background(), s.repo(), unknown, image.Options{Limit: 100_000}); !errors.As(err, &limit) {
		t.Errorf("sizes that only the server knows: %v", err)
	}
	mustMake(t, client(t), s, e, image.Options{})
	e.Base = s.twin(t, e.Base)
	mustMake(t, client(t), s, e, image.Options{Limit: 1})
}
