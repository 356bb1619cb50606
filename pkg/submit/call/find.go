package call

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// absolute returns a path that may be relative to cwd as an absolute path.
func absolute(path, cwd string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

// pythonFile returns the absolute path of the file that a word names. The file must exist.
func pythonFile(word, cwd string) (string, error) {
	path := absolute(word, cwd)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", missingFile(word, path, cwd)
	case err != nil:
		return "", fmt.Errorf("looking for %s: %w", word, err)
	case info.IsDir():
		return "", directory(word, path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", word)
	}
	return path, nil
}

// missingFile returns an error that suggests what the user may have meant: a module, or a
// file with a similar name.
func missingFile(word, path, cwd string) error {
	if isDottedName(word) {
		if found := moduleHere(cwd, word); found != "" && strings.Contains(word, ".") {
			return fmt.Errorf("there is no file %s; to run the module of that name, use -m %s", word, word)
		}
	}
	dir := filepath.Dir(path)
	if !platform.IsDir(dir) {
		return fmt.Errorf("there is no file %s: its directory does not exist", word)
	}
	base := filepath.Base(path)
	message := fmt.Sprintf("there is no file %s in %s", base, dir)
	hint, program := human.DidYouMean(base, filesIn(dir)), ""
	if _, err := exec.LookPath(word); err == nil && !strings.ContainsAny(word, `/\`) {
		program = "to run the program " + word + ", use --command -- " + word
	}
	switch {
	case hint != "" && program != "":
		return errors.New(message + ": " + hint + " Or " + program)
	case hint != "":
		return errors.New(message + ": " + hint)
	case program != "":
		return errors.New(message + "; " + program)
	}
	return errors.New(message + "; TARGET is a file, FILE:FUNCTION or MODULE:FUNCTION, and -m runs a module")
}

// filesIn lists the files of a directory that a user may have meant.
func filesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // then there is nothing to suggest
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func directory(word, path string) error {
	if platform.IsFile(filepath.Join(path, "__main__.py")) && isDottedName(dotted(word)) {
		return fmt.Errorf("%s is a directory: to run it as a package, use -m %s", word, dotted(word))
	}
	return fmt.Errorf("%s is a directory: name a Python file in it, as in %s", word, filepath.Join(word, "train.py"))
}

// sources returns the directory src below dir, where many projects keep their modules; nothing if there is none, or if src is a
// package itself.
func sources(dir string) []string {
	src := filepath.Join(dir, "src")
	if !platform.IsDir(src) || platform.IsFile(filepath.Join(src, "__init__.py")) {
		return nil
	}
	return []string{src}
}

// locate returns the file of a module and the directory below which it is; "" if there is none, or none that counts. Like
// Python, it looks no further than the first directory with a package or module of the name before the first dot.
func locate(dirs []string, module string, counts func(file string) bool) (dir, file string) {
	top, _, _ := strings.Cut(module, ".")
	if top == "" {
		return "", "" // a payload has no module
	}
	for _, dir := range dirs {
		if file := moduleFile(dir, module); file != "" && counts(file) {
			return dir, file
		}
		if file := moduleFile(dir, top); file != "" && counts(file) {
			break
		}
	}
	return "", ""
}

// moduleHere returns the file of a module as seen from a directory, "" if there is none.
func moduleHere(cwd, module string) string {
	_, file := locate(append([]string{cwd}, sources(cwd)...), module, func(string) bool { return true })
	return file
}

// moduleFile returns the file of a module or package by its dotted name below dir, "" if
// there is none. Like Python, it prefers the package.
func moduleFile(dir, name string) string {
	path := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(name, ".", "/")))
	for _, file := range []string{filepath.Join(path, "__init__.py"), path + ".py"} {
		if platform.IsFile(file) {
			return file
		}
	}
	return ""
}
