package frontdoor

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// installDetails follows the usage in the help of completion.
const installDetails = `
install puts ` + completionName + `, the file that kubectl needs, on the PATH.

Flags:
  --dir DIR    A directory on PATH. Default: the directory of ` + pluginName + `, or if it
               isn't writable, ~/.local/bin or ~/bin.
  --dry-run    Only print what would be done.
`

// signature is in every build of the front door, as part of the names of its functions.
const signature = "github.com/kubectl-kinetic/kinetic/pkg/cmd/frontdoor"

// installation is a file for completion that is to be put in place.
type installation struct {
	dir    string
	plugin string // the path of kubectl-kinetic where kubectl finds it, links not followed
	goos   string
	dryRun bool
}

// installCompletion puts the file for completion on the PATH and prints what it did.
func installCompletion(p Process, args []string) error {
	n, err := p.parseInstall(args)
	if err != nil {
		return err
	}
	did, err := n.install(p.Symlink)
	if err != nil {
		return fmt.Errorf("installing completion: %w", err)
	}
	if err := write(p.Stdout, fmt.Sprintf("%s\n\nIf kubectl's own completion is not enabled yet:\n\n%s", did, enabling(n.shell()))); err != nil {
		return err
	}
	if warning := n.hidden(); warning != "" && !n.dryRun {
		_, err = fmt.Fprintln(p.Stderr, "warning: "+warning)
	}
	return err
}

func (p Process) parseInstall(args []string) (n installation, err error) {
	n.goos = runtime.GOOS
	flags := flag.NewFlagSet("install", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&n.dir, "dir", "", "")
	flags.BoolVar(&n.dryRun, "dry-run", false, "")
	if err := flags.Parse(args); err != nil {
		return n, usageError(fmt.Sprintf("completion install: %s; the flags are --dir DIR and --dry-run", asTyped(err, args)))
	}
	if flags.NArg() > 0 {
		return n, usageError(fmt.Sprintf("completion install takes no argument, got %q; for a directory use --dir", flags.Arg(0)))
	}
	plugin, err := exec.LookPath(pluginName)
	if err == nil {
		plugin, err = filepath.Abs(plugin)
	}
	if err != nil {
		return n, fmt.Errorf("installing completion: kubectl finds no %s: add its directory to the PATH first: %s", pluginName, filepath.Dir(p.Executable))
	}
	n.plugin = plugin
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "dir" })
	if !given {
		n.dir = n.chooseDirectory(filepath.Dir(plugin))
		return n, nil
	}
	if info, err := os.Stat(n.dir); err != nil || !info.IsDir() {
		return n, usageError(fmt.Sprintf("--dir %q: no such directory; the plugin is in %s", n.dir, filepath.Dir(plugin)))
	}
	n.dir, err = filepath.Abs(n.dir)
	return n, err
}

// asTyped returns the text of an error about flags. Package flag writes them all with one dash.
func asTyped(err error, args []string) string {
	text := err.Error()
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); len(name) > 2 && strings.HasPrefix(name, "--") {
			text = strings.Replace(text, " "+name[1:], " "+name, 1)
		}
	}
	return text
}

// chooseDirectory returns the plugin's directory, or one of the user's own directories of the
// PATH if it has no write permission there.
func (n installation) chooseDirectory(first string) string {
	home, _ := os.UserHomeDir()
	var path []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path = append(path, filepath.Clean(dir))
	}
	for _, dir := range []string{first, filepath.Join(home, ".local", "bin"), filepath.Join(home, "bin")} {
		_, err := os.Lstat(filepath.Join(dir, n.fileName()))
		if exists := err == nil; slices.Contains(path, dir) && (exists || writable(dir)) {
			return dir
		}
	}
	return first
}

func (n installation) fileName() string {
	if n.goos == "windows" {
		return completionName + ".exe"
	}
	return completionName
}

// shell returns the name of the user's shell, whose completion is to be enabled.
func (n installation) shell() string {
	if n.goos == "windows" {
		return "powershell"
	}
	return filepath.Base(os.Getenv("SHELL"))
}

func (n installation) file() string { return filepath.Join(n.dir, n.fileName()) }

// link returns what a link leads to: kubectl-kinetic on the PATH, not the file behind it, whose
// directory krew replaces with each version.
func (n installation) link() string {
	here, err := os.Stat(n.dir)
	there, statErr := os.Stat(filepath.Dir(n.plugin))
	if err == nil && statErr == nil && os.SameFile(here, there) {
		return filepath.Base(n.plugin)
	}
	return n.plugin
}

// install returns what it did, or in a dry-run what it would do.
func (n installation) install(symlink func(target, link string) error) (did string, err error) {
	found, old, err := n.inspect()
	if err != nil {
		return "", err
	}
	switch found {
	case ready:
		return "already installed: " + n.file(), nil
	case foreign:
		return "", fmt.Errorf("%s is not from this plugin, so it was left as it is: move it away, or choose another directory of the PATH with --dir", n.file())
	}
	if n.dryRun {
		return fmt.Sprintf("would link %s to %s%s", n.file(), n.link(), old), nil
	}
	if found == outdated {
		if err := os.Remove(n.file()); err != nil {
			return "", denied(err)
		}
	}
	if symlink(n.link(), n.file()) == nil {
		return fmt.Sprintf("linked %s to %s%s", n.file(), n.link(), old), nil
	}
	if err := copyProgram(n.plugin, n.file()); err != nil { // as on Windows without the right to link
		return "", denied(err)
	}
	return fmt.Sprintf("copied %s to %s; after an upgrade, run this command again", n.plugin, n.file()), nil
}

// denied adds what to do if a directory can't be written to.
func denied(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: with --dir, choose a directory on PATH that you can write to, or run this command as the owner", err)
	}
	return err
}

// condition is what is found in the place of the file for completion.
type condition int

const (
	absent condition = iota
	ready
	outdated // from this plugin, but leads elsewhere or is an older copy
	foreign
)

// inspect returns what is in the place of the file. For an outdated one, old says what it was.
func (n installation) inspect() (found condition, old string, err error) {
	info, err := os.Lstat(n.file())
	if errors.Is(err, fs.ErrNotExist) {
		return absent, "", nil
	}
	if err != nil {
		return absent, "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(n.file())
		if err != nil {
			return absent, "", err
		}
		path := target
		if !filepath.IsAbs(path) {
			path = filepath.Join(n.dir, path)
		}
		switch {
		case target == n.link(), filepath.Clean(path) == n.plugin:
			return ready, "", nil
		case filepath.Base(path) == filepath.Base(n.plugin):
			return outdated, " instead of " + target, nil
		}
	}
	return n.inspectProgram()
}

// inspectProgram is inspect for a file that is no link to kubectl-kinetic.
func (n installation) inspectProgram() (condition, string, error) {
	info, err := os.Stat(n.file())
	if err != nil || !info.Mode().IsRegular() {
		return foreign, "", nil // a link to nothing, or a directory
	}
	program, err := os.ReadFile(n.file())
	if err != nil {
		return absent, "", err
	}
	if !bytes.Contains(program, []byte(signature)) {
		return foreign, "", nil
	}
	if plugin, err := os.ReadFile(n.plugin); err == nil && bytes.Equal(plugin, program) {
		return ready, "", nil
	}
	return outdated, " instead of a copy of another version", nil
}

func copyProgram(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755) //nolint:gosec // the user chose the directory
}

// hidden returns why kubectl does not find the file; "" if it does.
func (n installation) hidden() string {
	first, err := exec.LookPath(completionName)
	if err == nil {
		first, err = filepath.Abs(first)
	}
	if err != nil {
		return fmt.Sprintf("kubectl does not find it yet: add %s to the PATH", n.dir)
	}
	here, there := filepath.Dir(n.file()), filepath.Dir(first)
	a, err := os.Stat(here)
	b, statErr := os.Stat(there)
	if cmp.Or(err, statErr) == nil && os.SameFile(a, b) {
		return ""
	}
	return fmt.Sprintf("kubectl finds %s first: remove it, or put %s before it on the PATH", first, n.dir)
}
