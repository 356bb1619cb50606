//go:build !windows

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// The runner reads none of these variables itself.
func TestArgumentsForCloudStorage(t *testing.T) {
	f := newFixture(t)
	env := []string{"STORAGE_EMULATOR_HOST=http://old", "GOOGLE_APPLICATION_CREDENTIALS=/key.json", "GCE_METADATA_HOST=", "STORAGE_EMULATOR_HOST=http://new"}
	const want = "--emulator http://new --credentials /key.json"
	for name, tt := range map[string]struct {
		store string
		data  []api.Data
		want  string
	}{
		"a bucket as store":    {"gs://bucket", nil, want},
		"a bucket as data":     {"file://" + f.storeDir, []api.Data{{Name: "a", URL: "hf://x/y"}, {Name: "b", URL: "gs://bucket/b"}}, want},
		"nothing of that kind": {"file://" + f.storeDir, []api.Data{{Name: "a", Path: "/a"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := api.Spec{ID: jobID, Store: tt.store, Data: tt.data}
			args, err := f.arguments(spec, env)
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(strings.Join(args, " "), "--termination-log ")
			if strings.TrimSpace(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if site := !slices.Contains(interpreterFlags(spec), "-S"); site != (tt.want != "") {
				t.Errorf("with site-packages: %v", site)
			}
		})
	}
}

func TestStorageArguments(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	mine := write("home/.config/gcloud/application_default_credentials.json", `{"type": "authorized_user"}`)
	set := write("cloudsdk/application_default_credentials.json", `{"type": "service_account"}`)
	key := write("key.json", `{"type": "service_account"}`)
	external := write("external.json", `{"type": "external_account"}`)
	text := write("text.json", `key`)
	home := "HOME=" + filepath.Join(dir, "home")
	for name, tt := range map[string]struct {
		env      []string
		ofGoogle bool
		want     string // the flags, or a part of the error
		fails    bool
	}{
		"an emulator":            {[]string{home, "STORAGE_EMULATOR_HOST=http://e"}, false, "--emulator http://e", false},
		"a metadata server":      {[]string{home, "GCE_METADATA_HOST=m"}, false, "--metadata-host m", false},
		"a key":                  {[]string{home, "GOOGLE_APPLICATION_CREDENTIALS=" + key}, false, "--credentials " + key, false},
		"those of gcloud":        {[]string{home}, true, "--credentials " + mine, false},
		"gcloud's own directory": {[]string{home, "CLOUDSDK_CONFIG=" + filepath.Dir(set)}, false, "--credentials " + set, false},
		"a machine of Google's":  {[]string{"HOME=" + dir}, true, "", false},
		"nothing":                {[]string{"HOME=" + dir}, false, "no credentials for Cloud Storage: gcloud auth application-default login", true},
		"no such key":            {[]string{home, "GOOGLE_APPLICATION_CREDENTIALS=/none"}, false, "reading the credentials of GOOGLE_APPLICATION_CREDENTIALS: open /none", true},
		"not JSON":               {[]string{home, "GOOGLE_APPLICATION_CREDENTIALS=" + text}, false, text + ", are not JSON", true},
		"of another type":        {[]string{home, "GOOGLE_APPLICATION_CREDENTIALS=" + external}, true, `have the type "external_account"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			args, err := storageArguments(tt.env, tt.ofGoogle)
			got := strings.Join(args, " ")
			right := got == tt.want
			if err != nil {
				got = err.Error()
				right = strings.Contains(got, tt.want)
			}
			if (err != nil) != tt.fails || !right {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
