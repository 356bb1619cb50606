// Package cmd_test runs the commands as their users do: the scripts in
// testdata/script call the front door and its siblings, on a machine of their
// own (HOME, PATH, no kubeconfig).
package cmd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-kinetic/kinetic/hack/script"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/buildimage"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/frontdoor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/jobs"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/pool"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/run"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kubectl-kinetic":          func() { os.Exit(frontdoor.Main()) },
		"kubectl_complete-kinetic": func() { os.Exit(frontdoor.Main()) },
		"kubectl-kinetic_run":      binary(run.NewCommand, cli.Other{Word: "build-image", New: buildimage.NewCommand}),
		"kubectl-kinetic_pool":     binary(pool.NewCommand, pool.Others()...),
		"kubectl-kinetic_jobs":     binary(jobs.NewCommand),
	})
}

func binary(newCommand cli.NewCommand, others ...cli.Other) func() {
	return func() { os.Exit(cli.Main(newCommand, others...)) }
}

// TestScripts runs every script. -update rewrites the files that cmp compares with.
func TestScripts(t *testing.T) {
	python := interpreter(t)
	words := script.Words()
	words["apiserver"] = apiserver
	words["gcp"] = cloud
	words["images"] = images
	words["example"] = example
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               func(e *testscript.Env) error { return machine(e, python) },
		Cmds:                words,
	})
}

// interpreter is the real python3 behind whatever stands first on PATH: version
// managers put scripts there that look for it below HOME.
func interpreter(t *testing.T) string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skipf("there is no python3 to run jobs with: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// machine gives a script a home directory and a PATH with python3 on it, beside
// its working directory. $OURS is a PATH with our commands and nothing else.
func machine(e *testscript.Env, python string) error {
	dir, err := os.MkdirTemp("", "kinetic-script-")
	if err != nil {
		return err
	}
	e.Defer(func() { _ = os.RemoveAll(dir) })
	bin, home := filepath.Join(dir, "bin"), filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.Mkdir(home, 0o700), os.Symlink(python, filepath.Join(bin, "python3"))); err != nil {
		return err
	}
	ours, err := exec.LookPath("kubectl-kinetic")
	if err != nil {
		return err
	}
	e.Setenv("HOME", home)
	e.Setenv("OURS", filepath.Dir(ours))
	e.Setenv("KUBECONFIG", filepath.Join(dir, "no-kubeconfig"))
	e.Values[cloudKey{}] = &cloudOf{}
	e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
	return nil
}

// apiserver DIR [CONTEXT]: makes an API server the cluster of the kubeconfig, with the namespace
// ml, and its address $APISERVER. It answers with the file of a path, and with the code in it if
// that is a Status. PATH.next.json takes the place of PATH.json once that was read.
func apiserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: apiserver DIR [CONTEXT]")
	}
	dir, name := ts.MkAbs(args[0]), "dev"
	if len(args) > 1 {
		name = args[1]
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := filepath.Join(dir, filepath.FromSlash(r.URL.Path))
		text, err := os.ReadFile(path + ".json")
		_ = os.Rename(path+".next.json", path+".json")
		if err != nil {
			text = []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
		var status struct{ Code int }
		_ = json.Unmarshal(text, &status)
		w.Header().Set("Content-Type", "application/json")
		if status.Code != 0 {
			w.WriteHeader(status.Code)
		}
		_, _ = w.Write(text)
	}))
	ts.Defer(server.Close)
	ts.Setenv("APISERVER", server.URL)
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":%[1]q,"contexts":[{"name":%[1]q,"context":{"cluster":"dev","namespace":"ml"}}],
 "clusters":[{"name":"dev","cluster":{"server":%[2]q}}]}`, name, server.URL)
	ts.Check(os.WriteFile(ts.Getenv("KUBECONFIG"), []byte(config), 0o600))
}
