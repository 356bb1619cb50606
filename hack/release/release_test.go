package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// made is what test.sh has made.
type made struct {
	bin           string // the folder of kubectl and krew
	first, second snapshot
}

type snapshot struct{ folder, tag string }

func readMade(t *testing.T) made {
	t.Helper()
	folder := os.Getenv("RELEASE")
	if folder == "" {
		t.Skip("there is no snapshot: hack/release/test.sh makes one for these tests")
	}
	read := func(name string) snapshot {
		dist := filepath.Join(folder, name)
		release, err := readTag(dist)
		if err != nil {
			t.Fatal(err)
		}
		return snapshot{dist, release.TagName}
	}
	return made{filepath.Join(folder, "bin"), read("first"), read("second")}
}

func (s snapshot) archives(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.tar.gz", "*.zip"} {
		files, err := filepath.Glob(filepath.Join(s.folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	if len(all) == 0 {
		t.Fatal("there is no archive in", s.folder)
	}
	return all
}

// The most that an archive may take, in MB.
const archiveLimit = 40

func TestArchivesAreSmall(t *testing.T) {
	for _, archive := range readMade(t).first.archives(t) {
		file, err := os.Stat(archive)
		if err != nil {
			t.Fatal(err)
		}
		size := float64(file.Size()) / 1e6
		fmt.Fprintf(os.Stderr, "%s: %.1f MB of at most %d\n", file.Name(), size, archiveLimit)
		if size > archiveLimit {
			t.Errorf("%s: %.1f MB, want at most %d", file.Name(), size, archiveLimit)
		}
	}
}

// The most that the program for clusters may take, in MB.
const poolLimit = 35

func TestPoolBinaryIsSmall(t *testing.T) {
	const name = "kubectl-kinetic_pool"
	for _, archive := range readMade(t).first.archives(t) {
		read, suffix := filesInTar, ""
		if strings.HasSuffix(archive, ".zip") {
			read, suffix = filesInZip, ".exe"
		}
		files, err := read(archive)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(files, func(f file) bool { return f.name == name+suffix })
		if i < 0 {
			t.Fatalf("%s has no %s", archive, name)
		}
		size := float64(len(files[i].data)) / 1e6
		fmt.Fprintf(os.Stderr, "%s: %.1f MB of at most %d\n", name+suffix, size, poolLimit)
		if size > poolLimit {
			t.Errorf("%s in %s: %.1f MB, want at most %d", name, filepath.Base(archive), size, poolLimit)
		}
	}
}

// entry is a file in an archive.
type entry struct {
	Name string
	Mode fs.FileMode
}

// krew installs an archive with a wrong mode without complaint, and refuses links. In another
// order the same files are another archive.
func TestArchivesHoldPlainFilesThatCanBeRun(t *testing.T) {
	for _, archive := range readMade(t).first.archives(t) {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			read, suffix := filesInTar, ""
			if strings.HasSuffix(archive, ".zip") {
				read, suffix = filesInZip, ".exe"
			}
			want := []entry{{"LICENSE", 0o644}, {"THIRD_PARTY_LICENSES", 0o644}}
			for _, build := range readConfiguration(t).Builds {
				want = append(want, entry{build.Binary + suffix, 0o755})
			}
			files, err := read(archive)
			if err != nil {
				t.Fatal(err)
			}
			var got []entry
			for _, f := range files {
				got = append(got, entry{f.name, f.mode})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestInstall runs the scripts, each in an empty home, with a PATH that has nothing but
// what they need.
func TestInstall(t *testing.T) {
	m := readMade(t)
	server := httptest.NewServer(m.downloads())
	t.Cleanup(server.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup:               func(e *testscript.Env) error { return m.setup(e, server.URL) },
		Condition: func(name string) (bool, error) {
			if name != "pip" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return exec.Command("python3", "-c", "import pip, ensurepip, venv").Run() == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"publish": publish,
			"files":   listFiles,
		},
	})
}

// downloads serves TAG/ARCHIVE, as the releases of GitHub do.
func (m made) downloads() http.Handler {
	folders := http.NewServeMux()
	for _, s := range []snapshot{m.first, m.second} {
		prefix := "/" + s.tag + "/"
		folders.Handle(prefix, http.StripPrefix(prefix, http.FileServer(http.Dir(s.folder))))
	}
	return folders
}

func (m made) setup(e *testscript.Env, url string) error {
	repository, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return fmt.Errorf("looking for python3: %w", err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	work := func(parts ...string) string { return filepath.Join(append([]string{e.WorkDir}, parts...)...) }
	programs := map[string]string{
		work("bin", "python3"):          strings.TrimSpace(string(python)),
		work("bin", "git"):              git,
		work("bin", "kubectl"):          filepath.Join(m.bin, "kubectl"),
		work("krew", "kubectl-krew"):    filepath.Join(m.bin, "krew"),
		work("krew", "validate-plugin"): filepath.Join(m.bin, "validate-krew-manifest"),
	}
	for _, folder := range []string{"bin", "krew", "home", "index/plugins"} {
		err = errors.Join(err, os.MkdirAll(work(folder), 0o700))
	}
	for name, program := range programs {
		err = errors.Join(err, os.Symlink(program, name))
	}
	if err != nil {
		return err
	}
	variables := map[string]string{
		"HOME":                   work("home"),
		"KUBECONFIG":             work("no-kubeconfig"),
		"PATH":                   work("bin"),
		"KREW_DEFAULT_INDEX_URI": work("index"),
		"KREW_NO_UPGRADE_CHECK":  "1",
		"GIT_CONFIG_GLOBAL":      os.DevNull,
		"GIT_CONFIG_SYSTEM":      os.DevNull,
		"SYSTEM_PATH":            os.Getenv("PATH"),
		"REPOSITORY":             repository,
		"SERVER":                 url,
		"FIRST":                  m.first.tag,
		"FIRST_FOLDER":           m.first.folder,
		"SECOND":                 m.second.tag,
		"SECOND_FOLDER":          m.second.folder,
		"PLATFORM":               runtime.GOOS + "_" + runtime.GOARCH,
	}
	for name, value := range variables {
		e.Setenv(name, value)
	}
	return nil
}

// publish first|second: puts the manifest of a version into krew's index, with this
// machine's server for GitHub.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: publish first|second")
	}
	index := ts.Getenv("KREW_DEFAULT_INDEX_URI")
	manifest := ts.ReadFile(filepath.Join(ts.Getenv(strings.ToUpper(args[0])+"_FOLDER"), "krew", "kinetic.yaml"))
	manifest = strings.ReplaceAll(manifest, "https://github.com/kubectl-kinetic/kinetic/releases/download", ts.Getenv("SERVER"))
	ts.Check(os.WriteFile(filepath.Join(index, "plugins", "kinetic.yaml"), []byte(manifest), 0o600))
	for _, command := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", args[0]},
	} {
		ts.Check(ts.Exec("git", append([]string{"-C", index}, command...)...))
	}
}

// files FOLDER LIST: writes the names of all files and links in a folder, but krew's copies
// of its index, into a file.
func listFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: files FOLDER LIST")
	}
	names := map[string]bool{}
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path == filepath.Join(root, ".krew", "index") {
			return filepath.SkipDir
		}
		if err == nil && !entry.IsDir() {
			names[strings.TrimPrefix(path, root)+"\n"] = true
		}
		return err
	}))
	list := strings.Join(slices.Sorted(maps.Keys(names)), "")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(list), 0o600))
}
