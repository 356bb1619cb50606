package run

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// machine returns what a plan needs to know about this machine.
func (f *flags) machine(streams genericiooptions.IOStreams, now clock.PassiveClock) (submit.Machine, error) {
	m, err := submit.ThisMachine(os.Getenv, os.Getwd, streams.In)
	m.Outputs = filesOf(streams.Out, streams.ErrOut)
	m.Exclude = append(m.Exclude, fetchedTo(m.Cwd, f.fetch)...)
	m.Exclude = append(m.Exclude, fetchedTo(m.Cwd, f.outputFile)...)
	if f.earlier != nil && f.earlier.dir != "" {
		m.Exclude = append(m.Exclude, f.earlier.dir)
	}
	m.Unwritable, m.Steering = unwritable(m.CacheDir, now), packaging.Steering()
	if f.packageRoot != "" {
		m.PackageRoot, m.PackageRootFrom = f.packageRoot, "--package-root"
	}
	if info, missing := os.Stat(f.fetch); err == nil && missing == nil && !info.IsDir() {
		err = cli.Usagef("--outputs %s: it is not a directory", f.fetch)
	}
	return m, err
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
