package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadOverlayRejects(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"no kustomization":         {map[string]string{"patch.yaml": "x"}, []string{"the directory has no kustomization.yaml"}},
		"two kustomizations":       {map[string]string{"kustomization.yaml": component, "Kustomization": component}, []string{"both kustomization.yaml and Kustomization"}},
		"a kustomization":          {map[string]string{"kustomization.yaml": "kind: Kustomization\n"}, []string{"has kind Kustomization", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component"}},
		"a kustomization unsaid":   {map[string]string{"kustomization.yaml": "images: []\n"}, []string{"has kind Kustomization"}},
		"an unknown field":         {map[string]string{"kustomization.yaml": component + "patchs: []\n"}, []string{"kustomization.yaml", `unknown field "patchs"`}},
		"no YAML":                  {map[string]string{"kustomization.yaml": "a: [\n"}, []string{"invalid Kustomization"}},
		"a missing file":           {map[string]string{"kustomization.yaml": component + "patches: [{path: p.yaml}]\n"}, []string{`kustomization.yaml: patches "p.yaml": there is no such file`}},
		"a missing resource":       {map[string]string{"kustomization.yaml": component + "resources: [r]\n"}, []string{`resources "r": there is no such file`}},
		"a missing source":         {map[string]string{"kustomization.yaml": component + "configMapGenerator: [{name: a, files: [k=f]}]\n"}, []string{`configMapGenerator "f": there is no such file`}},
		"a missing environment":    {map[string]string{"kustomization.yaml": component + "secretGenerator: [{name: a, env: f}]\n"}, []string{`secretGenerator "f": there is no such file`}},
		"a missing replacement":    {map[string]string{"kustomization.yaml": component + "replacements: [{path: f}]\n"}, []string{`replacements "f": there is no such file`}},
		"a missing configuration":  {map[string]string{"kustomization.yaml": component + "configurations: [f]\n"}, []string{`configurations "f": there is no such file`}},
		"a missing schema":         {map[string]string{"kustomization.yaml": component + "crds: [f]\n"}, []string{`crds "f": there is no such file`}},
		"a file as component":      {map[string]string{"kustomization.yaml": component + "components: [f]\n", "f": "x"}, []string{`components "f": not a directory`}},
		"a directory as patch":     {map[string]string{"kustomization.yaml": component + "patches: [{path: d}]\n", "d/x": "x"}, []string{`patches "d": not a regular file`}},
		"a directory of nothing":   {map[string]string{"kustomization.yaml": component + "resources: [d]\n", "d/x": "x"}, []string{`resources "d": the directory has no kustomization.yaml`}},
		"a parent":                 {map[string]string{"kustomization.yaml": component + "resources: [../base]\n"}, []string{`resources "../base": it is outside of the overlay: copy it into the directory`}},
		"an absolute path":         {map[string]string{"kustomization.yaml": component + "resources: [/etc/passwd]\n"}, []string{`resources "/etc/passwd": it is outside of the overlay: copy it into the directory`}},
		"a repository":             {map[string]string{"kustomization.yaml": component + "resources: [\"https://github.com/a/b//c?ref=v1\"]\n"}, []string{"remote references are not fetched"}},
		"a repository in short":    {map[string]string{"kustomization.yaml": component + "components: [GitHub.com/a/b]\n", "GitHub.com/a/b/kustomization.yaml": component}, []string{"remote references are not fetched"}},
		"a repository over ssh":    {map[string]string{"kustomization.yaml": component + "resources: [\"git@example.com:a/b\"]\n"}, []string{"remote references are not fetched"}},
		"a repository of a user":   {map[string]string{"kustomization.yaml": component + "resources: [\"git@example.com/a/b\"]\n"}, []string{"remote references are not fetched"}},
		"a remote patch":           {map[string]string{"kustomization.yaml": component + "patches: [{path: \"https://example.com/p.yaml\"}]\n"}, []string{"remote references are not fetched"}},
		"a remote deep inside":     {map[string]string{"kustomization.yaml": component + "resources: [a]\n", "a/kustomization.yaml": "resources: [b]\n", "a/b/kustomization.yaml": "resources: [\"http://example.com/x\"]\n"}, []string{"a/b/kustomization.yaml", "remote references"}},
		"a chart":                  {map[string]string{"kustomization.yaml": component + "helmCharts: [{name: x}]\n"}, []string{"field helmCharts is not allowed", "may run programs"}},
		"a generator":              {map[string]string{"kustomization.yaml": component + "generators: [g.yaml]\n"}, []string{"field generators is not allowed"}},
		"a transformer":            {map[string]string{"kustomization.yaml": component + "transformers: [g.yaml]\n"}, []string{"field transformers is not allowed"}},
		"a validator":              {map[string]string{"kustomization.yaml": component + "validators: [g.yaml]\n"}, []string{"field validators is not allowed"}},
		"a field in another case":  {map[string]string{"kustomization.yaml": component + "Generators: [g.yaml]\n"}, []string{"field generators is not allowed"}},
		"a namespace":              {map[string]string{"kustomization.yaml": component + "namespace: mine\n"}, []string{"field namespace is not allowed", "--namespace"}},
		"a schema":                 {map[string]string{"kustomization.yaml": component + "openapi: {path: o.json}\n"}, []string{"field openapi is not allowed"}},
		"an old field":             {map[string]string{"kustomization.yaml": component + "patchesStrategicMerge: [p.yaml]\n"}, []string{"field patchesStrategicMerge is not allowed", "deprecated in kustomize: use patches"}},
		"more than Kubernetes has": {map[string]string{"kustomization.yaml": component + "resources: [a]\n", "a": strings.Repeat("x", maxOverlay)}, []string{"more than 4 MiB, including a"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, c.files)
			_, err := ReadOverlay(dir)
			wantError(t, err, append(c.want, "reading overlay "+dir)...)
		})
	}
}

func TestReadOverlayWantsADirectory(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"file": component})
	for name, c := range map[string]struct{ dir, want string }{
		"missing":       {filepath.Join(dir, "none"), "there is no such directory"},
		"with an @":     {filepath.Join(dir, "me@work"), "there is no such directory"}, // on Windows, all have a colon
		"a file":        {filepath.Join(dir, "file"), "expected a directory with a kustomization.yaml"},
		"remote":        {"https://github.com/a/b//c", "remote overlays are not fetched"},
		"remote, short": {"github.com/a/b", "remote overlays are not fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadOverlay(c.dir)
			wantError(t, err, c.want, c.dir)
		})
	}
}

func TestReadOverlayDoesNotLeaveTheDirectory(t *testing.T) {
	outside := t.TempDir()
	writeFiles(t, outside, map[string]string{"secret.yaml": "secret", "d/kustomization.yaml": component})
	dir := t.TempDir()
	for link, to := range map[string]string{"p.yaml": filepath.Join(outside, "secret.yaml"), "d": filepath.Join(outside, "d")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, field := range map[string]string{"a file": "patches: [{path: p.yaml}]\n", "a directory": "components: [d]\n"} {
		t.Run(name, func(t *testing.T) {
			writeFiles(t, dir, map[string]string{"kustomization.yaml": component + field})
			_, err := ReadOverlay(dir)
			wantError(t, err, "path escapes from parent")
		})
	}
}

// Only what kustomize opens is read: no README, no .git, no large neighbours.
func TestReadOverlayReadsWhatIsNamed(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"kustomization.yaml": component + "patches: [{path: link.yaml}, {path: ./p/../p/q.yaml}]\nresources: [p]\n",
		"p/q.yaml":           "q", "p/kustomization.yaml": "resources: [q.yaml]\n", "real.yaml": "real", "README.md": "no", ".git/config": "no",
	})
	if err := os.Symlink("real.yaml", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	o, err := ReadOverlay(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, content := range o.files {
		if !strings.HasSuffix(name, "kustomization.yaml") {
			got[name] = string(content)
		}
	}
	if diff := cmp.Diff(map[string]string{"link.yaml": "real", "p/q.yaml": "q"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kustomization.yaml", "p/kustomization.yaml"}, o.kustomizations); diff != "" {
		t.Errorf("kustomizations -want +got:\n%s", diff)
	}
}
