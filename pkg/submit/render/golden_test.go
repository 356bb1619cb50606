package render

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-kinetic/kinetic/manifests"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// whole are the cases whose golden file is the whole manifest. The golden file of every other case is the difference
// from the nearest of these.
var whole = []string{
	"cpu", "cpu-map", "l4", "l4-everything", "v6e-8", "indexed-v6e-16",
	"lws-v5p-16", "pathways-v6e-16", "lws-cpu-4hosts", "lws-cpu-everything", "lws-b200-tcp",
}

func TestGolden(t *testing.T) {
	bases := map[string]string{}
	for _, name := range whole {
		bases[name] = string(mustRender(t, family[name]).YAML())
	}
	for name, s := range family {
		t.Run(name, func(t *testing.T) {
			got := mustRender(t, s)
			file, text := name+".yaml", string(got.YAML())
			if !slices.Contains(whole, name) {
				file, text = name+".diff", smallestDiff(bases, text)
			}
			golden.Check(t, filepath.Join("testdata", "golden", file), text)
			if err := decodeAll(got); err != nil {
				t.Error(err)
			}
			checkReferences(t, got, s)
			for _, o := range got.Objects() {
				checkNoise(t, o.Object, o.GetKind())
			}
		})
	}
}

// smallestDiff returns the difference of a manifest from the whole one that makes it shortest.
func smallestDiff(bases map[string]string, manifest string) string {
	var smallest string
	for _, base := range whole {
		text := "--- " + base + "\n" + golden.Diff(bases[base], manifest)
		if smallest == "" || strings.Count(text, "\n") < strings.Count(smallest, "\n") {
			smallest = text
		}
	}
	return smallest
}

// What people read on disk: everything but the copies of package manifests.
func TestGoldenFiles(t *testing.T) {
	for name, file := range map[string]string{"v6e-8-everything": "files.txtar", "lws-v6e-16-everything": "files-hosts.txtar"} {
		t.Run(name, func(t *testing.T) {
			_, files, err := render(family[name], Overlay{}, testRunner, true)
			if err != nil {
				t.Fatal(err)
			}
			var archive txtar.Archive
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if original, err := manifests.FS.ReadFile(name); err != nil || !bytes.Equal(original, files[name]) {
					archive.Files = append(archive.Files, txtar.File{Name: name, Data: files[name]})
				}
			}
			golden.Check(t, filepath.Join("testdata", file), string(txtar.Format(&archive)))
		})
	}
}

// Every golden file has its case: none is left over from a case that is gone.
func TestGoldenFilesAreUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		extension := filepath.Ext(file)
		name := strings.TrimSuffix(filepath.Base(file), extension)
		if _, used := family[name]; !used || slices.Contains(whole, name) != (extension == ".yaml") {
			t.Errorf("%s belongs to no case", file)
		}
	}
	if len(files) != len(family) {
		t.Errorf("%d golden files for %d cases", len(files), len(family))
	}
}
