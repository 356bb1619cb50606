package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingFile(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "proj")
	cwd := filepath.Join(root, "conf")
	for _, file := range []string{filepath.Join(cwd, "base.json"), filepath.Join(cwd, "kept.json"), filepath.Join(cwd, "images", "1.png"), filepath.Join(root, "data", "train.csv"), filepath.Join(dir, "outside.csv")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	packaged := func(rel string) bool { return rel == "conf/kept.json" }
	passed := func(path string) bool { return strings.HasPrefix(path, filepath.Join(cwd, "images")) }
	for file, want := range map[string]string{
		"base.json":                       "base.json is on this machine, but was left out of the package",
		filepath.Join(cwd, "base.json"):   "is a path on this machine",
		"images/1.png":                    "images/1.png is passed as data, and has another path in the job: open the path that",
		"kept.json":                       "",
		"../../outside.csv":               "../../outside.csv is on this machine, and only " + root + " is packaged: pass it with --data NAME=../../outside.csv",
		filepath.Join(dir, "outside.csv"): "is packaged: pass it with --data NAME=" + dir,
		"data/train.csv":                  "data/train.csv is in " + root + ", but the job started in conf, like the command",
		"nowhere.csv":                     "",
		filepath.Join(dir, "nowhere.csv"): "",
		"gs://bucket/train.csv":           "",
		"":                                "",
	} {
		if got := (project{cwd, root, packaged, passed, false}).missingFile(file); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", file, got, want)
		}
	}
	want := `../../outside.csv is on this machine, and only ` + root + ` is packaged: pass kinetic.Data("../../outside.csv") as an argument, and open the path that the function gets`
	if got := (project{cwd, root, packaged, passed, true}).missingFile("../../outside.csv"); got != want {
		t.Errorf("from Python: got %q, want %q", got, want)
	}
}
