package submit

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// Machine is what a plan needs to know about the machine it is made on.
type Machine struct {
	// Cwd is absolute, Home may be empty.
	Cwd, Home string
	// Stdin is where --map - reads the inputs.
	Stdin io.Reader
	// Inputs are those that an earlier plan of the same request has read; nil remembers none.
	Inputs *MapInputs
	// PackageRoot comes from KINETIC_PACKAGE_ROOT, unless PackageRootFrom names a flag.
	// PythonPath is PYTHONPATH, and NoDefaultExcludes is KINETIC_NO_DEFAULT_EXCLUDES=1.
	PackageRoot, PackageRootFrom string
	PythonPath                   string
	NoDefaultExcludes            bool
	// EditedSince is pack.Options.EditedSince, for calls that keep hosts warm.
	EditedSince time.Time
	// User is the name of the account.
	User string
	// SizeWarnBytes is the size of a bundle that causes a warning; 0 or less means none.
	SizeWarnBytes int64
	// Prices are what accelerators cost.
	Prices price.Table
	// StorageEmulator is STORAGE_EMULATOR_HOST, where pods without a metadata server
	// reach the store.
	StorageEmulator string
	// CacheDir is where hashes and checks are cached; "" means nowhere.
	CacheDir string
	// Exclude lists absolute paths that are never packaged.
	Exclude []string
	// Origin returns who submits which commit of the package root; nil means nobody.
	Origin func(ctx context.Context, root string) api.Origin
	// Unwritable is that of environment.Input; nil remembers nothing. Steering is that, too.
	Unwritable func(repository string) string
	Steering   []string
	Texts      map[string][]byte // those of deps.Options
	// Outputs are the files that standard output and standard error go to, if known. They
	// change from run to run, so they are not packaged if they are in the project.
	Outputs []fs.FileInfo
}

// sizeWarnMB is the default of KINETIC_CONTEXT_SIZE_WARN_MB.
const sizeWarnMB = 100

// ThisMachine reads the environment of this process.
func ThisMachine(getenv func(string) string, getwd func() (string, error), stdin io.Reader) (Machine, error) {
	cwd, err := getwd()
	if err != nil {
		return Machine{}, fmt.Errorf("finding the working directory: %w", err)
	}
	m := Machine{
		Cwd: cwd, Home: homeDir(getenv), Stdin: stdin,
		PackageRoot: getenv("KINETIC_PACKAGE_ROOT"), PackageRootFrom: "KINETIC_PACKAGE_ROOT", PythonPath: getenv(pythonPath),
		NoDefaultExcludes: getenv("KINETIC_NO_DEFAULT_EXCLUDES") == "1",
		StorageEmulator:   getenv(api.EnvStorageEmulator),
		Origin:            findOrigin,
		User:              job.CurrentUser(),
		CacheDir:          pack.CacheDir(getenv("XDG_CACHE_HOME"), platform.HomeDir(getenv)),
	}
	limit := float64(sizeWarnMB)
	if text := getenv("KINETIC_CONTEXT_SIZE_WARN_MB"); text != "" {
		if limit, err = strconv.ParseFloat(text, 64); err != nil {
			return Machine{}, fmt.Errorf("KINETIC_CONTEXT_SIZE_WARN_MB=%s: expected a number of megabytes, or 0 for no warning", text)
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

// homeDir returns the home directory, which must not be packaged, even if the environment
// doesn't name it.
func homeDir(getenv func(string) string) string {
	if dir := platform.HomeDir(getenv); dir != "" {
		return dir
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
