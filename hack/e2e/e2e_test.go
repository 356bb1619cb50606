// Package e2e runs the commands on the real cluster of `make cluster`. Each script in
// testdata has a namespace, a bucket and a repository for images of its own.
package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-kinetic/kinetic/hack/script"
)

// TestCluster runs the scripts that don't disturb each other, in parallel. It needs the
// environment of `make cluster-env`, and bin/.
func TestCluster(t *testing.T) {
	c := here(t)
	testscript.Run(t, c.params(testscript.Params{Dir: "testdata"}))
}

// TestClusterDisturbed runs, one after the other, the scripts that break what all jobs
// share: a node, a kubelet, the API server.
func TestClusterDisturbed(t *testing.T) {
	here(t).oneByOne(t, "testdata/disturbed")
}

// TestClusterLong runs scripts that repeat what other tests cover, with more jobs or faults. `make test-e2e` includes
// them, `make test` does not.
func TestClusterLong(t *testing.T) {
	c := here(t)
	t.Run("together", func(t *testing.T) { testscript.Run(t, c.params(testscript.Params{Dir: "testdata/long"})) })
	c.oneByOne(t, "testdata/long/disturbed")
}

// oneByOne runs the scripts of a directory one after the other.
func (c cluster) oneByOne(t *testing.T, dir string) {
	files, err := filepath.Glob(dir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("found no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			testscript.Run(t, c.params(testscript.Params{Files: []string{file}}))
		})
	}
}

// cannot is the exit code of the cluster's scripts for what a machine doesn't support.
const cannot = 77

// cluster is the cluster of this machine.
type cluster struct {
	bin     string // the directory of our binaries
	scripts string // the directory of the scripts that change the cluster
	signal  string // the script that sends signals to runners
	kubebox string // kubectl of the cluster's version, among others
	storage string // URL of the Cloud Storage emulator
	// slice is held by the script that uses the cluster's only TPU slice: two jobs, each with one of its two nodes, would wait for each
	// other.
	slice *sync.Mutex
}

// here skips the test if there is no cluster.
func here(t *testing.T) cluster {
	c := cluster{kubebox: os.Getenv("KUBEBOX"), storage: os.Getenv("STORAGE_EMULATOR_HOST"), slice: &sync.Mutex{}}
	if c.kubebox == "" {
		t.Skip(`there is no cluster in this shell, which takes Linux and root: make cluster, then eval "$(make -s cluster-env)"`)
	}
	for absolute, path := range map[*string]string{&c.bin: "../../bin", &c.scripts: "../cluster", &c.signal: "signal.sh"} {
		var err error
		if *absolute, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(c.bin, "kubectl-kinetic_run")); err != nil {
		t.Fatalf("%v: make build makes it", err)
	}
	return c
}

func (c cluster) params(p testscript.Params) testscript.Params {
	p.RequireExplicitExec = true
	p.Setup = c.setup
	p.Condition = c.condition
	p.Cmds = script.Words()
	p.Cmds["store"], p.Cmds["index"], p.Cmds["registry"], p.Cmds["pools"] = storeWord, indexWord, registryWord, poolsWord
	p.Cmds["slice"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		c.slice.Lock()
		ts.Defer(c.slice.Unlock)
	}
	return p
}

// setup creates a namespace, with the service account that jobs use, and a bucket for a
// script. Its repository for images is made by the first push.
func (c cluster) setup(e *testscript.Env) error {
	name := "e2e-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if err := c.kubectl("create", "namespace", name); err != nil {
		return err
	}
	e.Defer(func() { _ = c.kubectl("delete", "namespace", name, "--wait=false") })
	if err := errors.Join(c.kubectl("create", "serviceaccount", "kinetic", "-n", name), makeBucket(c.storage, name)); err != nil {
		return err
	}
	e.Defer(func() { _ = removeBucket(c.storage, name) })
	home := filepath.Join(e.WorkDir, ".home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	for key, value := range map[string]string{
		"HOME":               home,
		"PATH":               c.bin + string(filepath.ListSeparator) + e.Getenv("PATH"),
		"NAMESPACE":          name,
		"KINETIC_NAMESPACE":  name,
		"KINETIC_STORE":      "gs://" + name,
		"KINETIC_IMAGE_REPO": os.Getenv("KINETIC_IMAGE_REPO") + "/" + name,
		"SCRIPTS":            c.scripts,
		"SIGNAL":             c.signal,
		"CLUSTER_HOME":       os.Getenv("HOME"), // where its binaries are
	} {
		e.Setenv(key, value)
	}
	for _, key := range []string{"KUBECONFIG", "KINETIC_IMAGE", "KINETIC_BASE_IMAGE", "STORAGE_EMULATOR_HOST", "KUBEBOX", "KUBEBOX_DIR", "KINETIC_PROFILES_FILE"} {
		e.Setenv(key, os.Getenv(key))
	}
	index, err := newIndex()
	e.Values[faultsKey{}], e.Values[indexKey{}], e.Values[registryKey{}] = &faults{backend: c.storage}, index, &registryProxy{}
	e.Values[poolsKey{}] = &pools{}
	return err
}

// condition evaluates [torch], [science], [kueue], [dra] and [pathways]: whether the cluster has, or can be
// given, what NAME.sh adds; and [debian:MODULE]: whether Debian's Python here has a module.
func (c cluster) condition(name string) (bool, error) {
	if module, ok := strings.CutPrefix(name, "debian:"); ok {
		return exec.Command("/usr/bin/python3", "-c", "import "+module).Run() == nil, nil
	}
	if !slices.Contains([]string{"torch", "science", "kueue", "dra", "pathways"}, name) {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	var said bytes.Buffer
	command := exec.Command(filepath.Join(c.scripts, name+".sh"))
	command.Stderr = &said
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &exit) && exit.ExitCode() == cannot:
		fmt.Fprint(os.Stderr, &said) // a skipped test prints nothing without -v
		return false, nil
	}
	return false, fmt.Errorf("%s.sh: %w\n%s", name, err, &said)
}

func (c cluster) kubectl(args ...string) error {
	if out, err := exec.Command(c.kubebox, append([]string{"kubectl"}, args...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %v: %w\n%s", args, err, out)
	}
	return nil
}
