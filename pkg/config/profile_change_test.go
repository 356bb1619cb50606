package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var lab = Profile{Name: "lab", Project: "lab-ml", Zone: "us-west1-a", Cluster: "lab", Namespace: "default"}

func TestChange(t *testing.T) {
	const dev = `    "dev": {
      "cluster": "main",
      "namespace": "research",
      "project": "acme-ml",
      "zone": "us-central1-a"
    }`
	const prod = `    "prod_2": {
      "cluster": "big",
      "colour": "red",
      "project": "acme-ml",
      "zone": "europe-west4-b"
    }`
	const labText = `    "lab": {
      "cluster": "lab",
      "namespace": "default",
      "project": "lab-ml",
      "zone": "us-west1-a"
    }`
	file := func(current string, profiles ...string) string {
		return fmt.Sprintf("{\n  \"current\": %s,\n  \"profiles\": {\n%s\n  },\n  \"version\": 7\n}\n", current, strings.Join(profiles, ",\n"))
	}
	tests := map[string]struct {
		text string
		edit func(*ProfileDraft) error
		want string
	}{
		"nothing":            {two, func(*ProfileDraft) error { return nil }, two},
		"add":                {two, func(d *ProfileDraft) error { return d.Put(lab) }, file(`"dev"`, dev, labText, prod)},
		"use":                {two, func(d *ProfileDraft) error { return d.Use("prod_2") }, file(`"prod_2"`, dev, prod)},
		"unset":              {two, func(d *ProfileDraft) error { d.Unset(); return nil }, file("null", dev, prod)},
		"remove":             {two, func(d *ProfileDraft) error { return d.Remove("prod_2") }, file(`"dev"`, dev)},
		"remove the current": {two, func(d *ProfileDraft) error { return d.Remove("dev") }, file("null", prod)},
		"replace": {two, func(d *ProfileDraft) error {
			return d.Put(Profile{Name: "prod_2", Project: "p", Zone: "us-west1-a", Cluster: "c", Namespace: "n", Defaults: Defaults{BaseImage: "b:1"}})
		}, file(`"dev"`, dev, `    "prod_2": {
      "base_image": "b:1",
      "cluster": "c",
      "colour": "red",
      "namespace": "n",
      "project": "p",
      "zone": "us-west1-a"
    }`)},
		"outside GKE": {`{}`, func(d *ProfileDraft) error {
			return d.Put(Profile{Name: "kind", Namespace: "ml", Context: "kind-dev", Store: "gs://b"})
		}, `{
  "current": "kind",
  "profiles": {
    "kind": {
      "cluster": "none",
      "context": "kind-dev",
      "namespace": "ml",
      "project": "none",
      "store": "gs://b",
      "zone": "none"
    }
  }
}
`},
		"numbers keep their digits": {`{"big": 12345678901234567890.5, "note": "<é>"}`, func(d *ProfileDraft) error { return d.Put(lab) },
			"{\n  \"big\": 12345678901234567890.5,\n  \"current\": \"lab\",\n  \"note\": \"<é>\",\n  \"profiles\": {\n" + labText + "\n  }\n}\n"},
		"null": {`null`, func(d *ProfileDraft) error { return d.Put(lab) },
			"{\n  \"current\": \"lab\",\n  \"profiles\": {\n" + labText + "\n  }\n}\n"},
		"without any": {`{"current": "gone", "profiles": null}`, func(d *ProfileDraft) error { return d.Put(lab) },
			"{\n  \"current\": \"lab\",\n  \"profiles\": {\n" + labText + "\n  }\n}\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env, path := written(t, tt.text)
			if err := ChangeProfiles(t.Context(), env.get, tt.edit); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, read(t, path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := ReadProfiles(env.get); err != nil {
				t.Error(err)
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What can't be done leaves the file as it is, and nothing beside it but the lock.
func TestChangeFails(t *testing.T) {
	tests := map[string]struct {
		text string
		edit func(*ProfileDraft) error
		want string
	}{
		"a broken file":        {"{", func(d *ProfileDraft) error { return d.Put(lab) }, "profiles.json:1:1: unexpected end"},
		"another's mistake":    {`{"profiles": {"x": {}}}`, func(d *ProfileDraft) error { return d.Put(lab) }, `profile "x" has no project`},
		"use of none":          {two, func(d *ProfileDraft) error { return d.Use("prod") }, `did you mean "prod_2"?`},
		"removal of none":      {two, func(d *ProfileDraft) error { return d.Remove("x") }, "has no profile of that name"},
		"a name":               {two, func(d *ProfileDraft) error { return d.Put(Profile{Name: "a b"}) }, `profile "a b": expected at most 64 letters`},
		"a missing field":      {two, func(d *ProfileDraft) error { return d.Put(Profile{Name: "a", Project: "p"}) }, `profile "a" has no zone`},
		"the caller's opinion": {two, func(d *ProfileDraft) error { return errors.Join(d.Put(lab), errors.New("no")) }, "no"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env, path := written(t, tt.text)
			err := ChangeProfiles(t.Context(), env.get, tt.edit)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if got := read(t, path); got != tt.text {
				t.Errorf("the file has changed: %s", got)
			}
			if files, _ := filepath.Glob(path + ".*"); len(files) != 1 {
				t.Errorf("left behind: %q", files)
			}
		})
	}
}

func TestFirstFile(t *testing.T) {
	env := variables{"HOME": filepath.Join(t.TempDir(), "home")}
	if err := ChangeProfiles(t.Context(), env.get, func(d *ProfileDraft) error { return d.Put(lab) }); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(env["HOME"], ".kinetic", "profiles.json")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	got, err := ReadProfiles(env.get)
	if err != nil || got.Current != "lab" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := ChangeProfiles(t.Context(), variables{}.get, nil); err == nil || !strings.Contains(err.Error(), "neither KINETIC_PROFILES_FILE nor HOME") {
		t.Errorf("without a home: %v", err)
	}
}

// A file that is a link, as in a directory of dotfiles, stays one.
func TestLinkedFile(t *testing.T) {
	env, path := written(t, two)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	env["KINETIC_PROFILES_FILE"] = link
	if err := ChangeProfiles(t.Context(), env.get, func(d *ProfileDraft) error { return d.Put(lab) }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(read(t, path), "lab-ml") {
		t.Errorf("got %v, %v", info, err)
	}
}

// Changes at the same time lose nothing, and a reader never sees half a file.
func TestChangesAtOnce(t *testing.T) {
	env, _ := written(t, two)
	const writers = 20
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			p := lab
			p.Name = fmt.Sprintf("lab%d", n)
			if err := ChangeProfiles(t.Context(), env.get, func(d *ProfileDraft) error { return d.Put(p) }); err != nil {
				t.Error(err)
			}
			if _, err := ReadProfiles(env.get); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	file, err := ReadProfiles(env.get)
	if err != nil || len(file.Names()) != writers+2 {
		t.Errorf("%d profiles, %v", len(file.Names()), err)
	}
}

func TestWaitsForTheLock(t *testing.T) {
	env, path := written(t, two)
	release, err := lock(t.Context(), path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = ChangeProfiles(ctx, env.get, func(d *ProfileDraft) error { return d.Put(lab) })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "which has locked "+path+".lock") {
		t.Errorf("got %v", err)
	}
	release()
	if err := ChangeProfiles(t.Context(), env.get, func(d *ProfileDraft) error { return d.Put(lab) }); err != nil {
		t.Error(err)
	}
}
