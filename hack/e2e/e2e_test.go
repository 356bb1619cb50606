// Package e2e runs the commands against the real cluster of `make cluster`, each
// script of testdata in a namespace of its own.
package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-kinetic/kinetic/hack/script"
)

// TestCluster runs every script. It needs the environment of `make cluster-env`.
func TestCluster(t *testing.T) {
	kubebox := os.Getenv("KUBEBOX")
	if kubebox == "" {
		t.Skip(`there is no cluster in this shell: make cluster, then eval "$(make -s cluster-env)"`)
	}
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup:               func(e *testscript.Env) error { return namespace(e, kubebox, bin) },
		Cmds:                script.Words(),
	})
}

// namespace makes a namespace with the service account that jobs use, and a
// kubeconfig whose context names it.
func namespace(e *testscript.Env, kubebox, bin string) error {
	name := fmt.Sprintf("e2e-%d", time.Now().UnixNano())
	kubectl := func(args ...string) error {
		if out, err := exec.Command(kubebox, append([]string{"kubectl"}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl %v: %w\n%s", args, err, out)
		}
		return nil
	}
	if err := errors.Join(kubectl("create", "namespace", name), kubectl("create", "serviceaccount", "kinetic", "-n", name)); err != nil {
		return err
	}
	e.Defer(func() { _ = kubectl("delete", "namespace", name, "--wait=false") })
	home := filepath.Join(e.WorkDir, ".home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	e.Setenv("HOME", home)
	e.Setenv("KINETIC_NAMESPACE", name)
	e.Setenv("NAMESPACE", name)
	restart, err := filepath.Abs("../cluster/restart-apiserver.sh")
	if err != nil {
		return err
	}
	e.Setenv("RESTART", restart)
	e.Setenv("CLUSTER_HOME", os.Getenv("HOME")) // where its binaries are
	e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
	for _, v := range []string{"KUBECONFIG", "KINETIC_STORE", "KINETIC_IMAGE", "STORAGE_EMULATOR_HOST", "KUBEBOX", "KUBEBOX_DIR", "KINETIC_PROFILES_FILE"} {
		e.Setenv(v, os.Getenv(v))
	}
	return nil
}
