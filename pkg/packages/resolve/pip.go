package resolve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// pip is the interpreter whose pip resolves. Pip evaluates markers for the interpreter that it
// runs in, so only one of the target's own minor version and processor fits.
type pip struct{ python string }

func (pip) way() Method { return Pip }

// probe prints what an interpreter is. It runs isolated, as pip does then: neither variables nor
// modules of the project have an effect.
const probe = `import sys, json, platform
try:
    from importlib.metadata import version
    pip = version("pip")
except Exception:
    pip = ""
print(json.dumps({"executable": sys.executable, "python": "%d.%d" % sys.version_info[:2], "implementation": sys.implementation.name, "system": sys.platform, "machine": platform.machine(), "pip": pip}))`

// guard runs pip, whose wheels may require packages that have to be built. No program can be
// started, so that nothing of these is executed.
const guard = `import sys, runpy
def refuse(event, args):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.startfile"):
        raise PermissionError("programs can't be started while requirements are resolved")
sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)`

// refused is in pip's output if the guard did something.
const refused = "programs can't be started while requirements are resolved"

type interpreter struct{ Executable, Python, Implementation, System, Machine, Pip string }

// minPip is the oldest version of pip that has --dry-run and --report.
const minPip = "22.2"

// sparingPip is the first version of pip that resolves without downloading what it chooses.
const sparingPip = "25.3"

// heavyOf returns a requirement of a wish that is too large to be downloaded only to resolve it, ""
// if there is none. JAX is large with an extra, which brings an accelerator's libraries.
func heavyOf(w Request) string {
	// heavy are packages that have a gigabyte or more with all that they need.
	heavy := []string{"jax", "jaxlib", "tensorflow", "torch", "torchvision", "vllm"}
	for _, l := range w.lines() {
		name := requirement.Normalize(l.Name())
		if slices.Contains(heavy, name) && (!strings.HasPrefix(name, "jax") || strings.Contains(l.Text, "[")) {
			return name
		}
	}
	return ""
}

// older reports whether a version of pip is older than another one.
func older(version, than string) bool {
	order, err := requirement.CompareVersions(version, than)
	return err != nil || order < 0
}

// misfit says why pip of an interpreter can't resolve a wish, "" if it can.
func (i interpreter) misfit(w Request) string {
	t := w.Target
	switch {
	case i.System != "linux" || i.Machine != t.Machine():
		return fmt.Sprintf("pip resolves only for its own platform, which is %s on %s", i.System, i.Machine)
	case i.Implementation != "cpython":
		return "it is " + i.Implementation
	case t.Python != "" && i.Python != t.Python: // "" if nobody has looked into the base image yet
		return "pip resolves only for its own Python, which is " + i.Python
	case i.Pip == "":
		return "it has no pip"
	}
	if older(i.Pip, minPip) {
		return fmt.Sprintf("its pip is %s, and %s is needed", i.Pip, minPip)
	}
	if name := heavyOf(w); name != "" && older(i.Pip, sparingPip) {
		return fmt.Sprintf("its pip is %s, which would download %s only to resolve it: pip %s does not", i.Pip, name, sparingPip)
	}
	return ""
}

// pythons returns the paths of the interpreters that may fit.
func (r Resolver) pythons(t wheel.Target) (paths []string) {
	names := []string{cmp.Or(r.Python, platform.Python())}
	if t.Python != "" {
		names = append(names, "python"+t.Python)
	}
	for _, name := range names {
		if path, err := r.lookPath(name); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// fittingPip returns the pip that can resolve for the target, and why it does; nil if there is none, and why not. It
// asks the interpreters on PATH: neither the name of a shim nor that of an interpreter tells which pip it has.
func (r Resolver) fittingPip(ctx context.Context, w Request) (tool, string) {
	t := w.Target
	if runtime.GOOS != "linux" || runtime.GOARCH != t.Arch {
		return nil, fmt.Sprintf("there is no uv, and pip resolves only for its own platform, which is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	why := "there is neither uv nor python3"
	for _, path := range r.pythons(t) {
		i, err := r.ask(ctx, path, w.Root)
		if err != nil {
			why = fmt.Sprintf("there is no uv; asking %s for its version failed: %v", path, err)
			continue
		}
		if misfit := i.misfit(w); misfit != "" {
			why = fmt.Sprintf("there is no uv; %s: %s", path, misfit)
			continue
		}
		if t.Python == "" {
			return pip{i.Executable}, fmt.Sprintf("there is no uv; %s fits if the base image has Python %s", path, i.Python)
		}
		return pip{i.Executable}, fmt.Sprintf("there is no uv; %s has the job's platform", path)
	}
	return nil, why
}

// ask asks an interpreter what it is. The directory decides which one a version manager takes.
func (r Resolver) ask(ctx context.Context, path, dir string) (i interpreter, err error) {
	output, err := platform.Run(ctx, platform.Command{Path: path, Args: []string{"-I", "-c", probe}, Dir: dir, Environ: r.environ()})
	if err != nil {
		why := platform.LastLines(output, 1)
		if !strings.HasPrefix(output, "Traceback") { // after the reason, a version manager gives advice
			why, _, _ = strings.Cut(strings.TrimSpace(output), "\n")
		}
		return i, fmt.Errorf("%w: %s", err, why)
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &i); err != nil || i.Executable == "" {
		return i, fmt.Errorf("it answers %q", platform.LastLines(output, 1))
	}
	return i, nil
}

func (p pip) command(j *job) (string, []string) {
	args := []string{
		"-I", "-c", guard, "install", "--dry-run", "--ignore-installed", "--report", j.result, "--only-binary", ":all:", "--no-input",
		"--disable-pip-version-check", "--no-color", "--progress-bar", "off", "-r", j.requires,
		// Nothing is installed, but pip takes platforms only with a target. They make it choose
		// the wheels of the target's libc instead of its own.
		"--target", filepath.Join(j.dir, "target"),
	}
	if tags, err := j.wish.Target.Tags(); err == nil {
		first, _, _ := strings.Cut(tags[0], "-")
		for _, tag := range tags {
			if platform, ok := strings.CutPrefix(tag, first+"-"+first+"-"); ok {
				args = append(args, "--platform", platform)
			}
		}
	}
	if j.limits != "" {
		args = append(args, "-c", j.limits)
	}
	return p.python, args
}

type report struct {
	Install []struct {
		Metadata struct{ Name, Version string }
		Download struct {
			URL     string
			Archive *struct {
				Hash   string // sha256=…, before pip 23
				Hashes map[string]string
			} `json:"archive_info"`
		} `json:"download_info"`
	}
}

// fileName returns the name of the file that a URL is for: a version such as 2.9.0+cpu is escaped there, and a signature
// is behind it.
func fileName(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	name := path.Base(address)
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

func (pip) read(j *job) ([]deps.Package, error) {
	text, err := readResult(j)
	if err != nil {
		return nil, err
	}
	var found report
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("its report: %w", err)
	}
	packages := make([]deps.Package, 0, len(found.Install))
	for _, i := range found.Install {
		p := deps.Package{Name: requirement.Normalize(i.Metadata.Name), Version: i.Metadata.Version}
		if i.Download.Archive == nil || !isWheel(i.Download.URL) {
			p.Source, p.Why = deps.Hidden(i.Download.URL), deps.ErrNoWheel
			packages = append(packages, p)
			continue
		}
		p.Wheel = &wheel.Source{File: fileName(i.Download.URL), URL: i.Download.URL, SHA256: i.Download.Archive.Hashes["sha256"]}
		if hash, ok := strings.CutPrefix(i.Download.Archive.Hash, "sha256="); ok && p.Wheel.SHA256 == "" {
			p.Wheel.SHA256 = hash
		}
		packages = append(packages, p)
	}
	return packages, nil
}
