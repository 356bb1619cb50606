package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaceOfGcloud(t *testing.T) {
	const dir = "gcloud"
	tests := map[string]struct {
		files map[string]string // below gcloud's directory
		env   variables
		want  place
	}{
		"nothing was ever written": {nil, nil, place{}},
		"the default configuration": {map[string]string{"configurations/config_default": "[core]\nproject = p\n"}, nil,
			place{project: setting{"p", "gcloud configuration default"}}},
		"the active one": {map[string]string{
			"active_config":               "work\n",
			"configurations/config_work":  "[core]\naccount = me@example.com\nproject = p\n\n[compute]\nzone = z\n[container]\ncluster = c\n",
			"configurations/config_other": "[core]\nproject = q\n",
		}, nil, place{setting{"p", "gcloud configuration work"}, setting{"z", "gcloud configuration work"}, setting{"c", "gcloud configuration work"}}},
		"one by a variable": {map[string]string{
			"active_config":               "work",
			"configurations/config_work":  "[core]\nproject = p\n",
			"configurations/config_other": "[core]\nproject = q\n",
		}, variables{"CLOUDSDK_ACTIVE_CONFIG_NAME": "other"}, place{project: setting{"q", "gcloud configuration other"}}},
		"an active one that is gone": {map[string]string{"active_config": "work"}, nil, place{}},
		"none by a variable":         {map[string]string{"configurations/config_NONE": "[core]\nproject = p\n"}, variables{"CLOUDSDK_ACTIVE_CONFIG_NAME": "NONE"}, place{}},
		"a region without a zone": {map[string]string{"configurations/config_default": "[compute]\nregion = r\n"}, nil,
			place{zone: setting{"r", "gcloud configuration default"}}},
		"a zone before a region by a variable": {map[string]string{"configurations/config_default": "[compute]\nzone = z\n"}, variables{"CLOUDSDK_COMPUTE_REGION": "r"},
			place{zone: setting{"z", "gcloud configuration default"}}},
		"the project of other tools": {map[string]string{"configurations/config_default": "[core]\nproject =\n"}, variables{"GOOGLE_CLOUD_PROJECT": "p"},
			place{project: setting{"p", "GOOGLE_CLOUD_PROJECT"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			for path, text := range tt.files {
				write(t, filepath.Join(base, dir, path), text)
			}
			env := func(name string) string {
				if name == "CLOUDSDK_CONFIG" {
					return filepath.Join(base, dir)
				}
				return tt.env[name]
			}
			got, err := placeOfGcloud(env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(place{}, setting{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGcloudUnreadable(t *testing.T) {
	for name, path := range map[string]string{"active": "active_config", "configuration": "configurations/config_default"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, path), 0o700); err != nil { // a directory instead of a file
				t.Fatal(err)
			}
			_, err := placeOfGcloud(variables{"CLOUDSDK_CONFIG": dir}.get)
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, path)) || !strings.Contains(err.Error(), "or use --project, --zone and --cluster") {
				t.Errorf("got %v, want the path and what to do", err)
			}
		})
	}
}

func TestGcloudDir(t *testing.T) {
	env := variables{"HOME": "/home/me", "APPDATA": "/users/me"}
	for goos, want := range map[string]string{"linux": "/home/me/.config/gcloud", "darwin": "/home/me/.config/gcloud", "windows": "/users/me/gcloud"} {
		if got := gcloudDir(env.get, goos); filepath.ToSlash(got) != want {
			t.Errorf("%s: got %s, want %s", goos, got, want)
		}
		if got := gcloudDir(variables{}.get, goos); got != "" {
			t.Errorf("%s without a home: got %s", goos, got)
		}
		if got := gcloudDir(variables{"HOME": "/home/me", "APPDATA": "/users/me", "CLOUDSDK_CONFIG": "/else"}.get, goos); got != "/else" {
			t.Errorf("%s: got %s, want CLOUDSDK_CONFIG", goos, got)
		}
	}
}

func TestParseProperties(t *testing.T) {
	tests := map[string]struct {
		text string
		want map[string]string
	}{
		"as gcloud writes it":   {"[core]\naccount = me@example.com\nproject = p\n\n[compute]\nzone = z\n", map[string]string{"core/account": "me@example.com", "core/project": "p", "compute/zone": "z"}},
		"Windows":               {"\ufeff[core]\r\nproject = p\r\n", map[string]string{"core/project": "p"}},
		"as people write it":    {"[core]\nProject=p\nzone : z\n", map[string]string{"core/project": "p", "core/zone": "z"}},
		"comments":              {"# [x]\n; a = b\n[core] ; why\n#project = q\nproject = p\n", map[string]string{"core/project": "p"}},
		"a section twice":       {"[core]\na = 1\n[x]\nb = 2\n[core]\na = 3\n", map[string]string{"core/a": "3", "x/b": "2"}},
		"what is not for us":    {"hello\n= x\n[core\nproject = p", map[string]string{"core/project": "p"}},
		"an equals sign inside": {"[core]\nkey = a=b:c\n", map[string]string{"core/key": "a=b:c"}},
		"nothing":               {"", map[string]string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parseProperties(tt.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What is read is one line each, and reads the same when gcloud writes it.
func FuzzParseProperties(f *testing.F) {
	f.Add("[core]\nproject = p\n# x\n[compute]\nzone: z")
	f.Add("\ufeff[]\n=\r\n a = [b]\n")
	f.Fuzz(func(t *testing.T, text string) {
		properties := parseProperties(text)
		var again strings.Builder
		for name, value := range properties {
			section, key, found := strings.Cut(name, "/")
			if !found || strings.Contains(name+value, "\n") {
				t.Fatalf("%q = %q is no property", name, value)
			}
			again.WriteString("[" + section + "]\n" + key + " = " + value + "\n")
		}
		if strings.Contains(text, "/") {
			return // a section with a slash can't be told from its key
		}
		if diff := cmp.Diff(properties, parseProperties(again.String())); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}
