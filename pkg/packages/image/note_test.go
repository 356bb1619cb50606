package image_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

// A layer that a note speaks of may be gone.
func TestNoteWithoutItsLayer(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, s, x)
		first := mustMake(t, client(t), s, e, image.Options{})
		m, err := s.image(t, tagOf(t, e)).Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if code := s.do(t, http.MethodDelete, "blobs/"+m.Layers[5].Digest.String(), ""); code != http.StatusAccepted {
			t.Fatalf("the layer was not deleted: %d", code)
		}
		e.Base = s.twin(t, e.Base)
		var last image.Progress
		made := mustMake(t, client(t), s, e, image.Options{Progress: func(p image.Progress) { last = p }})
		if made.Sent < 20_000 || made.Sent > 20_000+20_000 || made.Digest == first.Digest || last.Done != 3 {
			t.Errorf("made %+v, progress %+v, want one layer sent again", made, last)
		}
		if err := validate.Image(s.image(t, tagOf(t, e))); err != nil {
			t.Error(err)
		}
	})
}

func TestNotesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	mustMake(t, client(t), s, e, image.Options{})
	tag := s.tags(t, "w-"+e.Wheels[0].SHA256)[0]
	good, err := s.image(t, tag).RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	unlike, err := python(t, "").RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	edit := func(from, to string) string { return strings.Replace(string(good), from, to, 1) }
	for name, note := range map[string]string{
		"not JSON":       "<html>",
		"nothing":        "",
		"a list":         "[]",
		"no note":        strings.ReplaceAll(string(unlike), `"layers"`, `"levels"`),
		"another prefix": edit("opt/kinetic/env", "opt/else"),
		"no DiffID":      edit("diff-id", "other"),
		"a bad DiffID":   edit(`diff-id":"sha256:`, `diff-id":"sha256:x`),
		"no size":        strings.ReplaceAll(string(good), `"size":`, `"volume":`),
	} {
		t.Run(name, func(t *testing.T) {
			if code := s.do(t, http.MethodPut, "manifests/"+tag, note); code != http.StatusCreated {
				t.Fatalf("the note was not replaced: %d", code)
			}
			s.do(t, http.MethodDelete, "manifests/"+tagOf(t, e), "")
			made := mustMake(t, client(t), s, e, image.Options{})
			if made.Layers != 1 {
				t.Errorf("made %+v", made)
			}
			if now, err := s.image(t, tag).RawManifest(); err != nil || !bytes.Equal(now, good) {
				t.Errorf("the note is %s, %v", now, err)
			}
		})
	}
}

// So may be a layer that was sent a moment ago.
func TestLayerIsLostMeanwhile(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		e := small(t, s, newIndex(t))
		var lose sync.Once
		s.with(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/e-") {
				lose.Do(func() {
					m, err := s.image(t, s.tags(t, "w-"+e.Wheels[0].SHA256)[0]).Manifest()
					if err != nil || s.do(t, http.MethodDelete, "blobs/"+m.Layers[0].Digest.String(), "") != http.StatusAccepted {
						t.Errorf("the layer was not deleted: %v", err)
					}
				})
			}
			return false
		}, func() { mustMake(t, client(t), s, e, image.Options{}) })
		if err := validate.Image(s.image(t, tagOf(t, e))); err != nil {
			t.Error(err)
		}
	})
}

// forge has the note of one wheel speak of another's layer.
func forge(t *testing.T, s *server, e image.Env) {
	t.Helper()
	s.put(t, "acme/env:"+s.tags(t, "w-"+e.Wheels[0].SHA256)[0], s.image(t, s.tags(t, "w-"+e.Wheels[1].SHA256)[0]))
}

// TestReplacedImage: an image that is there is made again if nobody is believed.
func TestReplacedImage(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	first := mustMake(t, client(t), s, e, image.Options{})
	s.put(t, "acme/env:"+tagOf(t, e), python(t, "another"))
	if there := mustMake(t, client(t), s, e, image.Options{}); !there.There || there.Digest == first.Digest {
		t.Errorf("believed: %+v", there)
	}
	made := mustMake(t, client(t), s, e, image.Options{Verify: true})
	if made.There || made.Digest != first.Digest || len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], "and is replaced") {
		t.Errorf("checked: %+v, want %s", made, first.Digest)
	}
	if digest, err := s.image(t, tagOf(t, e)).Digest(); err != nil || digest.String() != first.Digest {
		t.Errorf("the tag has %s, want %s; %v", digest, first.Digest, err)
	}
}

func TestForgedNotes(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	c := client(t)
	mustMake(t, c, s, e, image.Options{})
	for name, tt := range map[string]struct {
		client  *image.Client
		options image.Options
		layers  int
		warning string
	}{
		"what this machine made": {c, image.Options{}, 1, "but this machine built sha256:"},
		"checked":                {client(t), image.Options{Verify: true}, 3, "than this machine built (sha256:"},
	} {
		forge(t, s, e)
		s.do(t, http.MethodDelete, "manifests/"+tagOf(t, e), "")
		made := mustMake(t, tt.client, s, e, tt.options)
		if made.Layers != tt.layers || len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], tt.warning) || !strings.Contains(made.Warnings[0], "find out who can write to the repository") {
			t.Errorf("%s: made %+v", name, made)
		}
		got := files(t, s.image(t, tagOf(t, e)))
		if got["opt/kinetic/env/lib/python3.12/site-packages/alpha/__init__.py"] == "" {
			t.Errorf("%s: alpha is missing", name)
		}
		if again := mustMake(t, client(t), s, e, image.Options{Verify: true}); !again.There {
			t.Errorf("%s: made again: %+v", name, again)
		}
	}
}

// TestMend: what the registry has lost of an image whose tag is there is made again, and nothing else.
func TestMend(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, s, x)
		first := mustMake(t, client(t), s, e, image.Options{Alias: "r-1"})
		m, err := s.image(t, "r-1").Manifest()
		if err != nil {
			t.Fatal(err)
		}
		for _, lost := range []v1.Descriptor{m.Config, m.Layers[len(m.Layers)-4], m.Layers[len(m.Layers)-1]} {
			if code := s.do(t, http.MethodDelete, "blobs/"+lost.Digest.String(), ""); code != http.StatusAccepted {
				t.Fatalf("a part was not deleted: %d", code)
			}
		}
		made := mustMake(t, client(t), s, e, image.Options{Alias: "r-1", Mend: true})
		if made.Digest != first.Digest || made.Layers != 1 || !made.There {
			t.Errorf("made %+v, want %s and one layer", made, first.Digest)
		}
		for _, tag := range []string{tagOf(t, e), "r-1"} {
			if err := validate.Image(s.image(t, tag)); err != nil {
				t.Errorf("%s: %v", tag, err)
			}
		}
	})
}
