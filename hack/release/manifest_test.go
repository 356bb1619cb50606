package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// archives makes a folder as goreleaser leaves it, with archives of some platforms.
func archives(t *testing.T, version string, names ...string) string {
	t.Helper()
	dist := t.TempDir()
	files := map[string]string{"metadata.json": `{"version":"` + version + `"}`}
	for _, name := range names {
		files[name] = name
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dist, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dist
}

const twoPlatforms = `{{- /* how it is filled in */ -}}
spec:
  version: {{ .TagName }}
  platforms:
  - bin: a
    {{addURIAndSha "https://host/{{ .TagName }}/a_{{ slice .TagName 1 }}.tar.gz" .TagName }}
  - bin: b
    {{addURIAndSha "https://host/{{ .TagName }}/b_{{ slice .TagName 1 }}.zip" .TagName }}
`

// The text is what krew-release-bot v0.0.46 makes of the template.
func TestFillsInAsTheBotDoes(t *testing.T) {
	got, err := fill(twoPlatforms, archives(t, "1.2.3", "a_1.2.3.tar.gz", "b_1.2.3.zip"))
	if err != nil {
		t.Fatal(err)
	}
	want := `spec:
  version: v1.2.3
  platforms:
  - bin: a
    uri: https://host/v1.2.3/a_1.2.3.tar.gz
    sha256: ff20b66ebbebc659577b0536861df595647b634aa3baa101f27b9797ced015d9
  - bin: b
    uri: https://host/v1.2.3/b_1.2.3.zip
    sha256: 8070fda22384d5b9d3fdec52352b7a7abbea2afbfbd82a27128185d16bca4719
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLeavesOutPlatformsWithoutAnArchive(t *testing.T) {
	got, err := fill(twoPlatforms, archives(t, "1.2.3", "b_1.2.3.zip"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"version: v1.2.3\n": true, "bin: a\n": false, "bin: b\n": true, "uri: https://host/v1.2.3/b_1.2.3.zip\n": true} {
		if strings.Contains(string(got), text) != want {
			t.Errorf("contains %q: %t, want %t:\n%s", text, !want, want, got)
		}
	}
}

func TestRefusesToFillIn(t *testing.T) {
	tests := map[string]struct{ template, version, want string }{
		"no archive at all":    {twoPlatforms, "1.2.3", "there is no archive of any platform"},
		"no version":           {twoPlatforms, "", "goreleaser's metadata have no version"},
		"an unknown function":  {"{{ sha }}", "1.2.3", `function "sha" not defined`},
		"an unknown field":     {"{{ .Tag }}", "1.2.3", "can't evaluate field Tag"},
		"a field of no one":    {`{{ addURIAndSha "{{ .Tag }}" .TagName }}`, "1.2.3", "can't evaluate field Tag"},
		"too little arguments": {`{{ addURIAndSha "a" }}`, "1.2.3", "wrong number of args"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := fill(tt.template, archives(t, tt.version))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// configuration is what these tests look at in .goreleaser.yaml.
type configuration struct {
	Builds []struct {
		Binary, Main string
		Goos, Goarch []string
		Tags         []string
	}
}

func readConfiguration(t *testing.T) configuration {
	t.Helper()
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c configuration
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryPluginIsReleased(t *testing.T) {
	released := map[string]string{}
	for _, build := range readConfiguration(t).Builds {
		released[build.Binary] = build.Main
	}
	folders, err := filepath.Glob("../../plugins/*")
	if err != nil || len(folders) == 0 {
		t.Fatal("found no plugins", err)
	}
	want := map[string]string{"kubectl_complete-kinetic": "./plugins/kubectl-kinetic"}
	for _, folder := range folders {
		want[filepath.Base(folder)] = "./plugins/" + filepath.Base(folder)
	}
	if diff := cmp.Diff(want, released); diff != "" {
		t.Errorf("binaries of .goreleaser.yaml (-plugins +released):\n%s", diff)
	}
}

// variable returns the value of a variable of the Makefile.
func variable(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+name+" := ")
	if !found {
		t.Fatalf("the Makefile has no %s", name)
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// What make cross compiles and make notices reads is what is released.
func TestTheMakefileKnowsEveryPlatform(t *testing.T) {
	var want []string
	build := readConfiguration(t).Builds[0] // the others are copies of it
	for _, goos := range build.Goos {
		for _, goarch := range build.Goarch {
			want = append(want, goos+"/"+goarch)
		}
	}
	if diff := cmp.Diff(want, strings.Fields(variable(t, "PLATFORMS"))); diff != "" {
		t.Errorf("(-.goreleaser.yaml +Makefile):\n%s", diff)
	}
}

// What is tested is what is released.
func TestTheMakefileHasTheTagsOfARelease(t *testing.T) {
	for _, build := range readConfiguration(t).Builds {
		if diff := cmp.Diff(build.Tags, strings.Split(variable(t, "TAGS"), ",")); diff != "" {
			t.Errorf("%s (-.goreleaser.yaml +Makefile):\n%s", build.Binary, diff)
		}
	}
}

// A platform that is built must be one that krew can install.
func TestEveryPlatformIsInTheManifest(t *testing.T) {
	var names []string
	want := map[string]string{}
	build := readConfiguration(t).Builds[0]
	for _, goos := range build.Goos {
		for _, goarch := range build.Goarch {
			program, format := "kubectl-kinetic", "tar.gz"
			if goos == "windows" {
				program, format = "kubectl-kinetic.exe", "zip"
			}
			names = append(names, "kinetic_1.2.3_"+goos+"_"+goarch+"."+format)
			want[goos+"/"+goarch] = program
		}
	}
	dist := archives(t, "1.2.3", names...)
	if err := writeManifest("../../krew/kinetic.yaml", dist); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dist, "krew", "kinetic.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, platform := range platforms(t, text) {
		got[platform.Selector.MatchLabels["os"]+"/"+platform.Selector.MatchLabels["arch"]] = platform.Bin
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-built +manifest):\n%s", diff)
	}
}

// platform is one of a krew manifest.
type platform struct {
	Bin, URI, Sha256 string
	Selector         struct{ MatchLabels map[string]string }
}

func platforms(t *testing.T, manifest []byte) []platform {
	t.Helper()
	var plugin struct {
		Spec struct{ Platforms []platform }
	}
	data, err := yaml.YAMLToJSONStrict(manifest)
	if err == nil {
		err = json.Unmarshal(data, &plugin)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plugin.Spec.Platforms
}
