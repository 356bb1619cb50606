package submit

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/homedir"
	"github.com/kubectl-kinetic/kinetic/pkg/pack"
)

// Machine is what a plan needs to know about where it is made.
type Machine struct {
	// Cwd is absolute, Home may be empty.
	Cwd, Home string
	// Stdin is where --map - reads the inputs.
	Stdin io.Reader
	// PackageRoot, PythonPath and NoDefaultExcludes come from KINETIC_PACKAGE_ROOT,
	// unless PackageRootFrom says that a flag gave it, PYTHONPATH and
	// KINETIC_NO_DEFAULT_EXCLUDES=1.
	PackageRoot, PackageRootFrom string
	PythonPath                   string
	NoDefaultExcludes            bool
	// SizeWarnBytes is the size of a bundle that is worth a warning, 0 or less
	// for none.
	SizeWarnBytes int64
	// StorageEmulator is STORAGE_EMULATOR_HOST: pods that have no metadata
	// server reach the store there.
	StorageEmulator string
	// CacheDir is where hashes and checks are remembered, "" for nowhere.
	CacheDir string
	// Exclude are absolute paths that are never packaged.
	Exclude []string
	// Origin says who submits what of the package root, nil for no one.
	Origin func(ctx context.Context, root string) api.Origin
	// Outputs are what standard output and standard error are, as far as that is known.
	// A file of the project in their place changes from run to run, and is not packaged.
	Outputs []fs.FileInfo
}

// sizeWarnMB is what KINETIC_CONTEXT_SIZE_WARN_MB is by default.
const sizeWarnMB = 100

// ThisMachine reads the environment of this process.
func ThisMachine(getenv func(string) string, getwd func() (string, error), stdin io.Reader) (Machine, error) {
	cwd, err := getwd()
	if err != nil {
		return Machine{}, fmt.Errorf("finding the working directory: %w", err)
	}
	m := Machine{
		Cwd: cwd, Home: homeDir(getenv), Stdin: stdin,
		PackageRoot: getenv("KINETIC_PACKAGE_ROOT"), PackageRootFrom: "KINETIC_PACKAGE_ROOT", PythonPath: getenv("PYTHONPATH"),
		NoDefaultExcludes: getenv("KINETIC_NO_DEFAULT_EXCLUDES") == "1",
		StorageEmulator:   getenv(api.EnvStorageEmulator),
		Origin:            findOrigin,
		CacheDir:          pack.CacheDir(getenv("XDG_CACHE_HOME"), homedir.Dir(getenv)),
	}
	limit := float64(sizeWarnMB)
	if text := getenv("KINETIC_CONTEXT_SIZE_WARN_MB"); text != "" {
		if limit, err = strconv.ParseFloat(text, 64); err != nil {
			return Machine{}, fmt.Errorf("KINETIC_CONTEXT_SIZE_WARN_MB=%s: expected a number of megabytes, 0 for no warning", text)
		}
	}
	m.SizeWarnBytes = int64(limit * (1 << 20))
	for variable, below := range map[string]string{"XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state"} {
		dir := getenv(variable)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(m.Home, below)
		}
		m.Exclude = append(m.Exclude, filepath.Join(dir, "kinetic"))
	}
	return m, nil
}

// homeDir is what must not be packaged, also where the environment does not name it.
func homeDir(getenv func(string) string) string {
	if dir := homedir.Dir(getenv); dir != "" {
		return dir
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
