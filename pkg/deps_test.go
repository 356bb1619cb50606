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

// mayImport names every package of this module and the packages of this module
// that it may import, all below pkg/ unless they begin with a slash. It reads
// from the nouns up to the binaries.
var mayImport = map[string]string{
	"api":         "/runner/kinetic_runner/contract",
	"version":     "",
	"errno":       "",
	"filelock":    "",
	"homedir":     "",
	"nearest":     "",
	"pattern":     "",
	"principal":   "",
	"requirement": "pattern",
	"shell":       "pattern",
	"tomlfile":    "",
	"transport":   "api errno",
	"wheel":       "pattern requirement",
	"/manifests":  "",
	"/runner":     "",

	"/manifests/leaderworkerset": "",
	"/manifests/rbac":            "",

	"/runner/runnertest":              "/runner",
	"cloudbuild/cloudbuildtest":       "cloudbuild",
	"gcp/gcptest":                     "accelerator gcp gcp/gcptest/lagtest gcp/gcptest/ruletest",
	"gcp/gcptest/lagtest":             "",
	"gcp/gcptest/ruletest":            "",
	"gke/gketest":                     "accelerator api gke render",
	"/runner/kinetic_runner/contract": "",

	"accelerator":     "api nearest pattern",
	"event":           "api",
	"price":           "accelerator api nearest pattern",
	"deps":            "nearest pattern requirement tomlfile",
	"lock":            "deps pattern requirement tomlfile wheel",
	"index":           "backoff deps lock pattern requirement wheel",
	"subprocess":      "",
	"resolver":        "deps index lock pattern requirement subprocess wheel",
	"call":            "api nearest pattern",
	"payload":         "api pattern /runner/kinetic_runner/contract",
	"profile":         "filelock homedir nearest pattern",
	"target":          "api homedir nearest pattern profile",
	"ui":              "api event",
	"store":           "api fanout pattern principal transport /runner/kinetic_runner/contract",
	"store/storetest": "store",
	"records":         "api store /runner/kinetic_runner/contract",
	"pack":            "api store",
	"bundle":          "api homedir nearest pack pattern store",
	"gcp":             "api backoff pattern principal transport version",
	"gke":             "accelerator api gcp pattern target transport",
	"gcsfuse":         "pattern",
	"cost":            "accelerator api price target",
	"nodeprice":       "api cost gke price target",
	"render":          "api gcsfuse gcsfuse nearest store version /manifests /runner",
	"screen":          "",
	"latest":          "",
	"backoff":         "",
	"image":           "api backoff pattern ui wheel",
	"cloudbuild":      "deps pattern principal store transport wheel infra",
	"fanout":          "",
	"logs":            "api backoff latest records screen store /runner/kinetic_runner/contract",
	"local":           "api homedir logs principal records screen store /runner",
	"indexes":         "",
	"lifecycle":       "",
	"kueue":           "",
	"status":          "accelerator api gcsfuse indexes kueue pattern",
	"quota":           "status",
	"volume":          "accelerator api fanout gcsfuse nearest status",
	"itemlist":        "api",
	"apiserver":       "api pattern transport",
	"joblist":         "api apiserver itemlist status",
	"kube":            "api apiserver backoff itemlist joblist kueue latest logs quota screen status transport volume",
	"occupancy":       "api apiserver itemlist",
	"inventory":       "api apiserver kueue status version",
	"mapresults":      "api records store",
	"job":             "api fanout logs mapresults nearest records screen shell store",
	"trust":           "api job pattern records store",
	"job/jobtest":     "api logs screen",
	"outputs":         "api filelock job nearest pattern records store /runner/kinetic_runner/contract",
	"prune":           "api pattern records store",
	"environment":     "api deps image lock nearest requirement wheel",
	"provider":        "api cloudbuild deps environment image lock records resolver store ui wheel /runner/kinetic_runner/contract",
	"data":            "api homedir nearest pack pattern store",
	"submit":          "accelerator api bundle call data deps environment homedir image job nearest pack pattern payload records render store target version /runner",
	"availability":    "accelerator api gcp target",

	"doctor":         "ui",
	"doctor/google":  "accelerator api doctor gcp gke infra infra/cloud lifecycle target",
	"doctor/trial":   "api apiserver doctor status",
	"doctor/machine": "doctor subprocess version",
	"doctor/cluster": "accelerator api apiserver backoff doctor gcsfuse inventory kueue status target transport /manifests/rbac",

	"forward": "",

	"infra":         "pattern target",
	"infra/files":   "infra profile backoff",
	"infra/cloud":   "api backoff fanout gcp gke infra lifecycle pattern transport",
	"infra/objects": "api apiserver backoff fanout infra kueue transport /manifests/leaderworkerset /manifests/rbac",

	"apiserver/apiservertest": "",

	"frontdoor": "nearest shell version",

	"cmd/process":    "api errno event nearest version",
	"cmd/connect":    "apiserver cmd/process profile shell target ui version",
	"cmd/document":   "",
	"cmd/meter":      "cmd/connect cost price target",
	"cmd/packages":   "cloudbuild environment homedir image provider resolver target transport version wheel principal",
	"cmd/buildimage": "api cmd/process cmd/connect cmd/packages environment image provider resolver submit target ui version",
	"cmd/report":     "api cmd/process errno event filelock job logs mapresults outputs screen store ui wheel trust",
	"cmd/backend":    "shell api cmd/process cmd/connect fanout job kube local logs screen store target ui /runner homedir pack trust",
	"cmd/run":        belowCmd + " gcp gke homedir cmd/process cmd/connect cmd/report cmd/backend cmd/files cmd/packages",
	"cmd/choice":     "api cmd/process cmd/connect cmd/report cmd/backend fanout job nearest",
	"cmd/files":      "cmd/choice cmd/process cmd/report job outputs ui",
	"cmd/version":    "cmd/document cmd/process cmd/connect inventory target ui version /runner",
	"cmd/jobs":       belowCmd + " cmd/document cmd/meter cmd/process cmd/connect cmd/report cmd/backend cmd/choice cmd/files cmd/version forward",

	"cmd/cluster":              "cmd/process cmd/cluster/accelerators cmd/cluster/config cmd/cluster/doctor cmd/cluster/profile cmd/cluster/up cmd/pool",
	"cmd/cluster/profile":      "cmd/connect cmd/document cmd/process profile target ui",
	"cmd/cluster/config":       "cmd/connect cmd/document cmd/process profile target ui price",
	"cmd/cluster/doctor":       "shell accelerator api cmd/connect cmd/document cmd/process doctor doctor/cluster doctor/machine inventory ui version /runner doctor/google target gcp gke profile doctor/trial infra infra/cloud infra/files transport",
	"cmd/pool":                 "accelerator api cmd/connect cmd/document cmd/process fanout gcp gke nearest nodeprice occupancy target ui price availability cmd/meter",
	"cmd/cluster/accelerators": "accelerator api cmd/connect cmd/document cmd/process nearest pattern price target ui availability gcp",
	"cmd/cluster/up":           "accelerator api cmd/connect cmd/document cmd/meter cmd/process gcp gke infra infra/cloud infra/files infra/objects nodeprice occupancy price profile target ui version transport availability backoff cost joblist kueue nearest",

	"/plugins/kubectl-kinetic":      "frontdoor",
	"/plugins/kubectl-kinetic_run":  "cmd/buildimage cmd/process cmd/run",
	"/plugins/kubectl-kinetic_jobs": "cmd/process cmd/jobs",
	"/plugins/kubectl-kinetic_pool": "cmd/process cmd/cluster",
}

const belowCmd = "accelerator api bundle call cost deps environment errno event fanout image job kube local logs mapresults nearest outputs pack pattern price profile provider prune render screen shell store submit target trust ui version /manifests /runner"

func TestImportsPointOneWay(t *testing.T) {
	for name, imports := range sources(t) {
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s is not in the table of deps_test.go: add it with what it may import", name)
			continue
		}
		for _, path := range imports {
			ours, found := strings.CutPrefix(path, module)
			if !found {
				continue
			}
			if short := shortName(ours); !slices.Contains(strings.Fields(allowed), short) {
				t.Errorf("%s imports %s; it may import: %s", name, short, allowed)
			}
		}
	}
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
func TestProcessAndConnectLinkNoJobs(t *testing.T) {
	linked := links(t)
	jobs := []string{module + "pkg/store", module + "pkg/kube", module + "pkg/local", module + "pkg/job", module + "runner", "cloud.google.com/go/storage"}
	for name, unwanted := range map[string][]string{
		"cmd/process": append([]string{"k8s.io/client-go/rest", "k8s.io/apimachinery/pkg/api/errors"}, jobs...),
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
	linked := links(t)["transport"]
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
	tests := map[string]struct{ path, only, why string }{
		"the renderer":       {module + "pkg/render", runBinary, "only run makes manifests"},
		"kustomize":          {"sigs.k8s.io/kustomize/api/krusty", runBinary, "only run makes manifests"},
		"port forwarding":    {"k8s.io/client-go/tools/portforward", "/plugins/kubectl-kinetic_jobs", "only jobs debug does it"},
		"all API groups":     {"k8s.io/client-go/kubernetes/scheme", "", "its init costs 2 ms at every start; genericclioptions brings it"},
		"gRPC's tracing":     {"golang.org/x/net/trace", "", "its templates call methods by name, so the linker keeps all: 8 MB"},
		"kubectl get":        {"k8s.io/kubectl/pkg/cmd/get", "", "its init costs 15 ms at every start"},
		"kubectl completion": {"k8s.io/kubectl/pkg/util/completion", "", "it brings kubectl get"},
	}
	linked := links(t)
	for _, name := range binaries(t) {
		for what, tt := range tests {
			switch found := slices.Contains(linked[name], tt.path); {
			case found && name != tt.only:
				t.Errorf("%s imports %s (%s): %s", name, what, tt.path, tt.why)
			case !found && name == tt.only:
				t.Errorf("%s no longer imports %s: is the path %s still right?", name, what, tt.path)
			}
		}
	}
}

const runBinary = "/plugins/kubectl-kinetic_run"

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
