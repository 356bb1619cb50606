package run

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// envCallerFiles is a variable with descriptors of files, separated by commas.
const envCallerFiles = "KINETIC_CALLER_FILES"

// machine returns what a plan needs to know about this machine.
func (f *flags) machine(streams genericiooptions.IOStreams, now clock.PassiveClock) (submit.Machine, error) {
	m, err := submit.ThisMachine(os.Getenv, os.Getwd, streams.In)
	m.Outputs = append(filesOf(streams.Out, streams.ErrOut), callersFiles()...)
	m.Exclude = append(m.Exclude, fetchedTo(m.Cwd, f.fetch)...)
	m.Exclude = append(m.Exclude, fetchedTo(m.Cwd, f.outputFile)...)
	if f.earlier != nil && f.earlier.dir != "" {
		m.Exclude = append(m.Exclude, f.earlier.dir)
	}
	m.Steering = packaging.Steering()
	m.Unwritable = func(repository string) string { // as an earlier run has found out
		return provide.Unwritable(packaging.Memory(m.CacheDir), repository, now.Now())
	}
	if f.packageRoot != "" {
		m.PackageRoot, m.PackageRootFrom = f.packageRoot, "--package-root"
	}
	if info, missing := os.Stat(f.fetch); err == nil && missing == nil && !info.IsDir() {
		err = cli.Usagef("--outputs %s: it is not a directory", f.fetch)
	}
	return m, err
}

// callersFiles returns the files that the calling program prints to, if it passes them on: what this one prints, that
// reads through pipes. They are closed, so that no child inherits them.
func callersFiles() []fs.FileInfo {
	var files []fs.FileInfo
	for text := range strings.SplitSeq(os.Getenv(envCallerFiles), ",") {
		fd, err := strconv.Atoi(text)
		if err != nil || fd <= 2 {
			continue
		}
		if info, err := os.Stat("/dev/fd/" + text); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			_ = os.NewFile(uintptr(fd), text).Close()
		}
	}
	_ = os.Unsetenv(envCallerFiles)
	return files
}

// filesOf returns the files among some outputs, without closed ones.
func filesOf(outputs ...io.Writer) []fs.FileInfo {
	var files []fs.FileInfo
	for _, w := range outputs {
		file, ok := w.(*os.File)
		if !ok {
			continue
		}
		if info, err := file.Stat(); err == nil {
			files = append(files, info)
		}
	}
	return files
}

// fetchedTo returns the directory of --outputs, which must not be packaged with the next job, unless
// the code is in it.
func fetchedTo(cwd, dir string) []string {
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	if rel, err := filepath.Rel(dir, cwd); err != nil || filepath.IsLocal(rel) {
		return nil
	}
	return []string{filepath.Clean(dir)}
}
