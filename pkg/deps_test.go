// Package pkg_test holds what may import what: the rules of CONTRIBUTING.md.
package pkg_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/kubectl-kinetic/kinetic/"
	cobra  = "github.com/spf13/cobra"
	pflag  = "github.com/spf13/pflag"
)

// neighbourhoods are the folders of pkg, from the bottom up. A package imports only packages
// of its own neighbourhood and of those before it.
var neighbourhoods = []string{
	"api",         // the nouns that everything exchanges: imports nothing of ours
	"internal",    // helpers without a domain
	"config",      // which project, cluster, namespace and store
	"accelerator", // the catalogue, and prices
	"google",      // Google Cloud's APIs
	"store",       // buckets and directories
	"packages",    // Python packages and images
	"job",         // a job by its ID
	"kube",        // the cluster as a backend
	"submit",      // from a command line to objects
	"cluster",     // create, delete and diagnose clusters
	"cmd",         // commands, flags, printing, exit codes
}

func TestImportsPointDown(t *testing.T) {
	for name, imports := range sources(t) {
		level := levelOf(name)
		if !strings.HasPrefix(name, "/") && level < 0 {
			t.Errorf("pkg/%s is in none of the neighbourhoods of deps_test.go", name)
		}
		for _, path := range imports {
			ours, found := strings.CutPrefix(path, module+"pkg/")
			if !found {
				continue
			}
			switch {
			case strings.HasPrefix(name, "/plugins/") && levelOf(ours) != levelOf("cmd"):
				t.Errorf("%s imports pkg/%s: a binary is a main.go over pkg/cmd", name, ours)
			case strings.HasPrefix(name, "/runner"), strings.HasPrefix(name, "/manifests"):
				t.Errorf("%s imports pkg/%s: data imports no code", name, ours)
			case level >= 0 && levelOf(ours) > level:
				t.Errorf("pkg/%s imports pkg/%s, which lies above it", name, ours)
			}
		}
	}
}

// levelOf returns the place of a package's neighbourhood in the list; -1 if it has none.
func levelOf(name string) int {
	first, _, _ := strings.Cut(name, "/")
	return slices.Index(neighbourhoods, first)
}

// A value for pflag may be all that is wrong with a package; client-go itself
// imports it, which is not a concern of ours.
func TestNoCommandLineBelowCmd(t *testing.T) {
	linked := links(t)
	for name, imports := range sources(t) {
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "/plugins/") {
			continue
		}
		if slices.Contains(imports, pflag) {
			t.Errorf("%s imports %s: flags end in pkg/cmd", name, pflag)
		}
		if slices.Contains(linked[name], cobra) {
			t.Errorf("%s needs %s, maybe through another package: commands end in pkg/cmd", name, cobra)
		}
	}
}

func TestFrontDoorIsStandardLibraryOnly(t *testing.T) {
	linked := links(t)["/plugins/kubectl-kinetic"]
	if len(linked) == 0 {
		t.Fatal("found no front door")
	}
	for _, path := range linked {
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !strings.HasPrefix(path, module) {
			t.Errorf("the front door links %s: every command pays for its start", path)
		}
	}
}

// A command that submits no job, such as one about node pools, begins with these two and pays
// for nothing else.
func TestCLIAndConnectLinkNoJobs(t *testing.T) {
	linked := links(t)
	jobs := []string{module + "pkg/store", module + "pkg/kube", module + "pkg/job/local", module + "pkg/job", module + "runner", "cloud.google.com/go/storage"}
	for name, unwanted := range map[string][]string{
		"cmd/cli":     append([]string{"k8s.io/client-go/rest", "k8s.io/apimachinery/pkg/api/errors"}, jobs...),
		"cmd/connect": jobs,
	} {
		if len(linked[name]) == 0 {
			t.Errorf("there is no package %s", name)
		}
		for _, path := range unwanted {
			if slices.Contains(linked[name], path) {
				t.Errorf("%s needs %s, maybe through another package", name, path)
			}
		}
	}
}

// The store and the APIs of Google Cloud use it, too.
func TestTransportLinksNoKubernetes(t *testing.T) {
	linked := links(t)["internal/transport"]
	if len(linked) == 0 {
		t.Fatal("found no transport")
	}
	for _, path := range linked {
		if strings.HasPrefix(path, "k8s.io/") {
			t.Errorf("transport links %s", path)
		}
	}
}

func TestBinariesImportOnlyWhatTheyNeed(t *testing.T) {
	const runs, jobs = "/plugins/kubectl-kinetic_run", "/plugins/kubectl-kinetic_jobs"
	tests := map[string]struct {
		path string
		only []string
		why  string
	}{
		"the renderer":       {module + "pkg/submit/render", []string{runs}, "only run makes manifests"},
		"kustomize":          {"sigs.k8s.io/kustomize/api/krusty", []string{runs}, "only run makes manifests"},
		"Cloud Storage":      {"cloud.google.com/go/storage", []string{runs, jobs}, "only jobs have a store"},
		"port forwarding":    {"k8s.io/client-go/tools/portforward", []string{runs, jobs}, "only jobs have ports"},
		"all API groups":     {"k8s.io/client-go/kubernetes/scheme", nil, "its init costs 2 ms at every start; genericclioptions brings it"},
		"gRPC's tracing":     {"golang.org/x/net/trace", nil, "its templates call methods by name, so the linker keeps all: 8 MB"},
		"kubectl get":        {"k8s.io/kubectl/pkg/cmd/get", nil, "its init costs 15 ms at every start"},
		"kubectl completion": {"k8s.io/kubectl/pkg/util/completion", nil, "it brings kubectl get"},
	}
	linked := links(t)
	for _, name := range binaries(t) {
		for what, tt := range tests {
			found, wanted := slices.Contains(linked[name], tt.path), slices.Contains(tt.only, name)
			switch {
			case found && !wanted:
				t.Errorf("%s imports %s (%s): %s", name, what, tt.path, tt.why)
			case !found && wanted:
				t.Errorf("%s no longer imports %s: is the path %s still right?", name, what, tt.path)
			}
		}
	}
}

func binaries(t *testing.T) []string {
	t.Helper()
	var names []string
	for name := range sources(t) {
		if strings.HasPrefix(name, "/plugins/") {
			names = append(names, name)
		}
	}
	return names
}

// sources reads the import paths of all packages of this module, tests left
// out. Reading the files, for every platform, also tells `go test` that its
// cached answer is old when one of them has changed: it does not see what the
// go command reads.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(filepath.ToSlash(path), entry.Name())
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name := shortName(filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), ".."+string(filepath.Separator))))
		imports, err := importPaths(file)
		packages[name] = append(packages[name], imports...)
		return err
	})
	if err != nil {
		t.Fatalf("read the sources: %v", err)
	}
	if len(packages) == 0 {
		t.Fatal("found no package")
	}
	return packages
}

func importPaths(file *ast.File) ([]string, error) {
	var paths []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// skipFolder leaves out what is not a part of the product: hidden folders, test
// data, and the tools in hack, which may import anything.
func skipFolder(path, name string) error {
	if path == "../hack" || name == "testdata" || path != ".." && strings.HasPrefix(name, ".") {
		return filepath.SkipDir
	}
	return nil
}

func shortName(folder string) string {
	if name, below := strings.CutPrefix(folder, "pkg/"); below {
		return name
	}
	return "/" + folder
}

// releaseTags returns the build tags of a release.
func releaseTags(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\nTAGS := ")
	if !found {
		t.Fatal("the Makefile has no TAGS")
	}
	tags, _, _ := strings.Cut(rest, "\n")
	return tags
}

// links lists for each package what ends up in a program with it, built as the
// release is.
func links(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags", releaseTags(t), "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	linked := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		linked[shortName(strings.TrimPrefix(words[0], module))] = words[1:]
	}
	return linked
}
