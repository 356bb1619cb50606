package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written puts a profiles file where it belongs in a home directory of its own.
func written(t *testing.T, text string) (variables, string) {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, ".kinetic", "profiles.json")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return variables{"HOME": home}, path
}

const two = `{
  "current": "dev",
  "profiles": {
    "dev": {"cluster": "main", "namespace": "research", "project": "acme-ml", "zone": "us-central1-a"},
    "prod_2": {"cluster": "big", "project": "acme-ml", "zone": "europe-west4-b", "colour": "red"}
  },
  "version": 7
}
`

func TestRead(t *testing.T) {
	dev := Profile{Name: "dev", Project: "acme-ml", Zone: "us-central1-a", Cluster: "main", Namespace: "research"}
	prod := Profile{Name: "prod_2", Project: "acme-ml", Zone: "europe-west4-b", Cluster: "big", Namespace: "default"}
	tests := map[string]struct {
		text    string
		current string
		want    []Profile
	}{
		"two, one without a namespace": {two, "dev", []Profile{dev, prod}},
		"images": {`{"profiles": {"dev": {"project": "acme-ml", "zone": "us-central1-a", "cluster": "main", "namespace": "research", "image_repo": "r/env", "base_image": "b:1", "base_image_repo": "bases", "pathways_images": "mirror/pw"}}}`, "",
			[]Profile{{Name: "dev", Project: "acme-ml", Zone: "us-central1-a", Cluster: "main", Namespace: "research", Defaults: Defaults{ImageRepo: "r/env", BaseImage: "b:1", BaseImageRepo: "bases", PathwaysImages: "mirror/pw"}}}},
		"outside GKE": {`{"profiles": {"kind": {"project": "none", "zone": "none", "cluster": "none", "context": "kind-dev", "store": "gs://b"}}}`, "",
			[]Profile{{Name: "kind", Namespace: "default", Context: "kind-dev", Store: "gs://b"}}},
		"a cluster that is called so": {`{"profiles": {"odd": {"project": "p", "zone": "z", "cluster": "none"}}}`, "",
			[]Profile{{Name: "odd", Project: "p", Zone: "z", Cluster: "none", Namespace: "default"}}},
		"no current":             {strings.Replace(two, `"dev",`, "null,", 1), "", []Profile{dev, prod}},
		"a current that is gone": {strings.Replace(two, `"dev",`, `"old",`, 1), "", []Profile{dev, prod}},
		"none":                   {`{"current": null, "profiles": {}}`, "", nil},
		"an empty object":        {`{}`, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env, path := written(t, tt.text)
			got, err := ReadProfiles(env.get)
			if err != nil {
				t.Fatal(err)
			}
			if got.Path != path || got.Current != tt.current {
				t.Errorf("got path %s, current %q", got.Path, got.Current)
			}
			var profiles []Profile
			for _, name := range got.Names() {
				p, err := got.Find(name)
				if err != nil {
					t.Fatal(err)
				}
				profiles = append(profiles, p)
			}
			if diff := cmp.Diff(tt.want, profiles); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadWhere(t *testing.T) {
	_, path := written(t, two)
	t.Run("a file of its own", func(t *testing.T) {
		got, err := ReadProfiles(variables{"KINETIC_PROFILES_FILE": path, "HOME": t.TempDir()}.get)
		if err != nil || got.Current != "dev" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	for name, env := range map[string]variables{
		"no file": {"HOME": t.TempDir()},
		"no home": nil,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadProfiles(env.get)
			if err != nil || got.Current != "" || len(got.Names()) > 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestReadRejects(t *testing.T) {
	const rest = `"zone": "z", "cluster": "c"}}}`
	tests := map[string]struct{ text, want string }{
		"nothing":                         {"", ":1:1: unexpected end"},
		"no object":                       {"[]", ":1:1: the file is of type array, expected an object"},
		"a comma too many":                {"{\n  \"current\": null,\n}", ":3:1: invalid character '}'"},
		"cut off":                         {"{\n  \"profiles\": {", ":2:15: unexpected end"},
		"a number":                        {"{\n \"profiles\": {\"dev\": {\"project\": 7, " + rest, ":2:34: profiles.project is of type number, expected a text"},
		"a number for a default":          {"{\n \"profiles\": {\"dev\": {\"cpu\": 7, " + rest, ":2:30: profiles.cpu is of type number, expected a text"},
		"a list of profiles":              {`{"profiles": []}`, ":1:14: profiles is of type array, expected an object"},
		"no project":                      {`{"profiles": {"dev": {` + rest, `: profile "dev" has no project`},
		"an empty project":                {`{"profiles": {"dev": {"project": "", ` + rest, `: profile "dev" has no project`},
		"an empty namespace":              {`{"profiles": {"dev": {"project": "p", "namespace": "", ` + rest, `: profile "dev" has no namespace`},
		"no profile":                      {`{"profiles": {"dev": null}}`, `: profile "dev" has no project`},
		"two wrong ones, always the same": {`{"profiles": {"c": {}, "b": {}, "a": {}, "d": {}}}`, `: profile "a" has no project`},
		"a name for no file":              {`{"profiles": {"../dev": {"project": "p", ` + rest, `: profile "../dev": expected at most 64`},
		"a name for no terminal":          {`{"profiles": {"a\u001b[1m": {"project": "p", ` + rest, `: profile "a\x1b[1m": expected at most 64`},
		"something behind the end":        {`{} {}`, ":1:4: invalid character '{' after top-level value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env, path := written(t, tt.text)
			got, err := ReadProfiles(env.get)
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			if want := "reading the profiles: " + path + tt.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %q, want %q", err, want)
			}
			if !strings.HasSuffix(err.Error(), ": fix the file, or name another with KINETIC_PROFILES_FILE") {
				t.Errorf("got %q, want what to do next", err)
			}
		})
	}
	t.Run("a directory", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := ReadProfiles(variables{"KINETIC_PROFILES_FILE": dir}.get); err == nil || !strings.Contains(err.Error(), dir+": is a directory: name a file with KINETIC_PROFILES_FILE that can be read") {
			t.Errorf("got %v, want the path %s in it, and what to do", err, dir)
		}
	})
}

func TestFindUnknown(t *testing.T) {
	env, path := written(t, two)
	gone := t.TempDir()
	tests := map[string]struct {
		env        variables
		name, want string
	}{
		"nearly right":      {env, "dve", path + ` has no profile of that name: did you mean "dev"?`},
		"like nothing here": {env, "zzzzzz", path + ` has no profile of that name; it has "dev", "prod_2"`},
		"no profiles":       {variables{"HOME": gone}, "dev", "there are no profiles in " + filepath.Join(gone, ".kinetic", "profiles.json")},
		"no home":           {nil, "dev", "neither KINETIC_PROFILES_FILE nor HOME is set"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file, err := ReadProfiles(tt.env.get)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.Find(tt.name); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// Whatever is read has names and values, and reads the same when it is written.
func FuzzParse(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte(`{"current": "x", "profiles": {"x": {"project": 1}}}`))
	f.Add([]byte("{\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parse(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), ":") {
				t.Errorf("%q does not say where", err)
			}
			return
		}
		if _, found := file.profiles[file.Current]; file.Current != "" && !found {
			t.Errorf("current %q is none of %q", file.Current, file.Names())
		}
		again := map[string]any{"current": file.Current, "profiles": map[string]any{}}
		for name, p := range file.profiles {
			again["profiles"].(map[string]any)[name] = map[string]string{
				"project": p.Project, "zone": p.Zone, "cluster": p.Cluster, "namespace": p.Namespace}
		}
		text, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(file, got, cmp.AllowUnexported(ProfileFile{})); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}
