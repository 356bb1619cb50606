package pack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// shared describes a directory that holds much more than one project, "" for any other.
func shared(dir, home string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	if isDir(home, info) {
		return "your home directory"
	}
	for _, name := range []string{"Desktop", "Documents", "Downloads", "OneDrive", "OneDrive/Desktop", "OneDrive/Documents"} {
		if isDir(filepath.Join(home, filepath.FromSlash(name)), info) && !isMarked(dir) {
			return "your " + name + " directory"
		}
	}
	_, holdsHome := platform.RelativeAsWritten(dir, home)
	// systemDirs belong to the machine or to all its users, on Linux, macOS and Windows. Their
	// subdirectories may well be projects: /usr/src/app, /var/lib/jenkins/workspace/x.
	systemDirs := []string{
		"/", "/bin", "/boot", "/dev", "/dev/shm", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/srv",
		"/sys", "/tmp", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/sbin", "/usr/share",
		"/var", "/var/lib", "/var/log", "/var/tmp",
		"/Applications", "/Library", "/System", "/Users", "/Volumes", "/private", "/private/etc", "/private/tmp", "/private/var",
		`C:\Program Files`, `C:\Program Files (x86)`, `C:\ProgramData`, `C:\Users`, `C:\Windows`, `C:\Windows\System32`,
	}
	if isTop(dir) || holdsHome || slices.ContainsFunc(systemDirs, func(system string) bool { return isDir(system, info) }) {
		return "a system directory"
	}
	return ""
}

func isDir(path string, info os.FileInfo) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(info, other)
}

// checkShared refuses a root that the user did not name and that holds much more than a
// project: a script in the home directory must not upload its keys. It allows one that is
// marked as a project, unless that is a home directory in use.
func checkShared(root, home string) error {
	// homeMarkers are in people's home directories, not in those of containers.
	homeMarkers := []string{".ssh", ".config"}
	what := shared(root, home)
	if what == "" || isMarked(root) && !hasAny(root, homeMarkers) {
		return nil
	}
	return fmt.Errorf("the package root would be %s, %s, and everything in it would be uploaded: "+
		"move the code to a directory of its own and run it from there; to package all of %s, add --package-root %s",
		root, what, root, quoted(root))
}

// checkAbove refuses a root without a marker above a project that is itself a Python package:
// it would hold the projects beside that one.
func checkAbove(root, entry string) error {
	if isMarked(root) {
		return nil
	}
	for dir := filepath.Clean(entry); dir != root && !isTop(dir); dir = filepath.Dir(dir) {
		if hasAny(dir, []string{".git", "pyproject.toml"}) {
			return fmt.Errorf("the package root would be %s, above the project %s, which is a Python package, and everything in it would be uploaded: "+
				"to package only the project, add --package-root %s or delete %s; to package all of %s, add --package-root %s",
				root, dir, quoted(dir), filepath.Join(dir, "__init__.py"), root, quoted(root))
		}
	}
	return nil
}

func isMarked(dir string) bool { return isProject(dir) || exists(filepath.Join(dir, IgnoreFile)) }

func hasAny(dir string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return exists(filepath.Join(dir, name)) })
}

func quoted(path string) string {
	if strings.ContainsAny(path, " '\"$`&;()*?<>|") {
		return `"` + path + `"`
	}
	return path
}
