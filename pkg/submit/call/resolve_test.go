package call

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestResolve(t *testing.T) {
	dir := project(t, "train.py", "my-train.py", "v1.2.py", "1st.py", "jobs/plain.py",
		"pkg/__init__.py", "pkg/mod.py", "pkg/sub/__init__.py", "pkg/sub/deep-er.py", "pkg/sub/mod.py",
		"v1.0/__init__.py", "v1.0/mod.py", "my-pkg/__init__.py", "my-pkg/mod.py",
		"space/mod.py", "both.py", "both/__init__.py", "src/lib/__init__.py", "src/lib/mod.py",
		"jobs/local.py")
	// base and cwd are relative to dir, as are all results.
	tests := map[string]struct {
		words     api.Invocation
		cwd, base string
		want      api.Call
	}{
		"a script": {words("train.py", "--", "x"), "", "",
			api.Call{Kind: api.CallFile, File: "train.py", Args: []string{"x"}, SysPath: []string{""}}},
		"a script from below": {words("../train.py"), "jobs", "",
			api.Call{Kind: api.CallFile, File: "train.py", Cwd: "jobs", SysPath: []string{""}}},
		"a script in a package finds its neighbours first": {words("pkg/mod.py"), "", "",
			api.Call{Kind: api.CallFile, File: "pkg/mod.py", SysPath: []string{"pkg", ""}}},
		"a function": {words("train.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "train.py", Module: "train", Function: "f", SysPath: []string{""}}},
		"of a file in a directory": {words("jobs/plain.py:f"), "", "jobs",
			api.Call{Kind: api.CallFunction, File: "jobs/plain.py", Module: "plain", Function: "f", SysPath: []string{"jobs", ""}}},
		"of a file that is no identifier": {words("my-train.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "my-train.py", Module: "my_train", Function: "f", SysPath: []string{""}}},
		"of a file with dots": {words("v1.2.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "v1.2.py", Module: "v1_2", Function: "f", SysPath: []string{""}}},
		"of a file that begins with a digit": {words("1st.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "1st.py", Module: "_1st", Function: "f", SysPath: []string{""}}},
		"of a file in a package": {words("pkg/mod.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "pkg/mod.py", Module: "pkg.mod", Function: "f", SysPath: []string{"", "pkg"}}},
		"of a file in a package, from inside": {words("mod.py:f"), "pkg", "",
			api.Call{Kind: api.CallFunction, File: "pkg/mod.py", Module: "pkg.mod", Function: "f", Cwd: "pkg", SysPath: []string{"", "pkg"}}},
		"of a file in a nested package": {words("pkg/sub/deep-er.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "pkg/sub/deep-er.py", Module: "pkg.sub.deep_er", Function: "f", SysPath: []string{"", "pkg/sub"}}},
		"of a package itself": {words("pkg/__init__.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "pkg/__init__.py", Module: "pkg", Function: "f", SysPath: []string{"", "pkg"}}},
		"of a package below another base": {words("src/lib/mod.py:f"), "", "src",
			api.Call{Kind: api.CallFunction, File: "src/lib/mod.py", Module: "lib.mod", Function: "f", SysPath: []string{"src", "", "src/lib"}}},
		"of a package that importlib can name": {words("my-pkg/mod.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "my-pkg/mod.py", Module: "my-pkg.mod", Function: "f", SysPath: []string{"", "my-pkg"}}},
		"of a package that nothing can name": {words("v1.0/mod.py:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "v1.0/mod.py", Module: "mod", Function: "f", SysPath: []string{"", "v1.0"}}},
		"a base outside of the root counts as the root": {words("pkg/mod.py:f"), "", "..",
			api.Call{Kind: api.CallFunction, File: "pkg/mod.py", Module: "pkg.mod", Function: "f", SysPath: []string{"", "pkg"}}},
		"a function of a module": {words("pkg.mod:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "pkg/mod.py", Module: "pkg.mod", Function: "f", SysPath: []string{""}}},
		"of a module in a directory that is no package": {words("space.mod:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "space/mod.py", Module: "space.mod", Function: "f", SysPath: []string{""}}},
		"of a package by name": {words("pkg.sub:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "pkg/sub/__init__.py", Module: "pkg.sub", Function: "f", SysPath: []string{""}}},
		"a package comes before a file": {words("both:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "both/__init__.py", Module: "both", Function: "f", SysPath: []string{""}}},
		"the working directory comes first": {words("local:f"), "jobs", "jobs",
			api.Call{Kind: api.CallFunction, File: "jobs/local.py", Module: "local", Function: "f", Cwd: "jobs", SysPath: []string{"jobs", ""}}},
		"then the root": {words("pkg.mod:f"), "jobs", "jobs",
			api.Call{Kind: api.CallFunction, File: "pkg/mod.py", Module: "pkg.mod", Function: "f", Cwd: "jobs", SysPath: []string{"jobs", ""}}},
		"then the package base": {words("lib.mod:f"), "src/lib", "src",
			api.Call{Kind: api.CallFunction, File: "src/lib/mod.py", Module: "lib.mod", Function: "f", Cwd: "src/lib", SysPath: []string{"src/lib", "", "src"}}},
		"of a package in src, which the others don't need": {words("lib.mod:f"), "", "",
			api.Call{Kind: api.CallFunction, File: "src/lib/mod.py", Module: "lib.mod", Function: "f", SysPath: []string{"", "src"}}},
		"a module in src": {words("-m", "lib.mod"), "jobs", "",
			api.Call{Kind: api.CallModule, Module: "lib.mod", Cwd: "jobs", SysPath: []string{"jobs", "", "src"}}},
		"a module": {words("-m", "pkg.mod", "--", "x"), "", "",
			api.Call{Kind: api.CallModule, Module: "pkg.mod", Args: []string{"x"}, SysPath: []string{""}}},
		"a command": {words("--command", "--", "nvidia-smi"), "jobs", "",
			api.Call{Kind: api.CallCommand, Args: []string{"nvidia-smi"}, Cwd: "jobs"}},
		"a working directory outside": {words(filepath.Join(dir, "train.py")), "..", "",
			api.Call{Kind: api.CallFile, File: "train.py", SysPath: []string{""}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cwd := filepath.Join(dir, tt.cwd)
			target, err := Parse(tt.words, cwd)
			if err != nil {
				t.Fatal(err)
			}
			got, warnings, err := target.Resolve(api.SourceTree{Root: dir, PackageBase: filepath.Join(dir, tt.base)}, nil)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("warnings %q, error %v", warnings, err)
			}
			tt.want.Version = api.Contract.Versions.Document
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func resolve(t *testing.T, w api.Invocation, root, cwd string) (api.Call, []string, error) {
	t.Helper()
	target, err := Parse(w, cwd)
	if err != nil {
		t.Fatal(err)
	}
	return target.Resolve(api.SourceTree{Root: root, PackageBase: root}, nil)
}

func TestResolveWarnsOfModulesElsewhere(t *testing.T) {
	dir := project(t, "train.py")
	for _, w := range []api.Invocation{words("keras.ops:add"), words("-m", "keras.ops")} {
		got, warnings, err := resolve(t, w, dir, dir)
		if err != nil || got.File != "" || got.Module != "keras.ops" {
			t.Errorf("got %+v, %v", got, err)
		}
		want := "module keras.ops is not in the project " + dir + ": it must be installed where the job runs"
		if len(warnings) != 1 || warnings[0] != want {
			t.Errorf("got %q, want %q", warnings, want)
		}
	}
}

// A name that is almost one of the project's is a slip, which must not start a job. Others
// may be those of the image, also where they begin as one of the project.
func TestResolveRejectsMisspeltModules(t *testing.T) {
	dir := project(t, "train.py", "churn/train.py", "lib/__init__.py", "lib/sub/__init__.py", "lib/sub/mod.py", "torch_utils.py", "pipe.py", "data/x.csv",
		"src/app/__init__.py", "src/app/train.py", "src/churn/hidden.py",
		"both.py", "src/both/train.py", "src/lib/deep.py")
	for word, want := range map[string]string{
		"chrun.train:f":    `did you mean "churn.train"?`,
		"churn.trian:f":    `did you mean "churn.train"?`,
		"chrun.trian:f":    `did you mean "churn.train"?`,
		"trian:f":          `did you mean "train"?`,
		"lbi.sub.mdo:f":    `did you mean "lib.sub.mod"?`,
		"lib.sbu.mod:f":    `package lib has no module sbu: did you mean "lib.sub"?`,
		"lib.zebra.mod:f":  "package lib has no module zebra",
		"app.trian:f":      `package app has no module trian: did you mean "app.train"?`,
		"appp.train:f":     `did you mean "app.train"?`,
		"app.generated:f":  "", // the image may have it
		"both.train:f":     "", // both.py hides it
		"lib.deep:f":       "package lib has no module deep",
		"pip:f":            "",
		"torch:f":          "",
		"torch.utils.x:f":  "",
		"churn.evaluate:f": "",
		"date:f":           "",
	} {
		target, err := Parse(words(word), dir)
		if err != nil {
			t.Fatal(err)
		}
		installed := func(module string) bool { return module == "pip" }
		_, warnings, err := target.Resolve(api.SourceTree{Root: dir, PackageBase: dir}, installed)
		switch {
		case want == "" && (err != nil || len(warnings) != 1):
			t.Errorf("%s: got %v and %q, want a warning", word, err, warnings)
		case want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", word, err, want)
		}
	}
}

func TestInstalled(t *testing.T) {
	here := python(t)
	if !Installed(t.Context(), here, "json") || Installed(t.Context(), here, "no_such_module") || Installed(t.Context(), "no-such-python", "json") {
		t.Error("json is installed, and nothing else of these")
	}
}

func TestResolveKeepsTheWarningsOfParse(t *testing.T) {
	dir := project(t, "train.py")
	w := words("train.py:f")
	w.KWArgs = []string{"shuffle=False"}
	got, warnings, err := resolve(t, w, dir, dir)
	if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "--arg shuffle: ") {
		t.Errorf("got %q, %v", warnings, err)
	}
	if string(got.KWArgs["shuffle"]) != `"False"` {
		t.Errorf("got %s", got.KWArgs["shuffle"])
	}
}

func TestResolveRejects(t *testing.T) {
	dir := project(t, "root/train.py", "outside.py", "root/pkg/__init__.py", "root/app/__init__.py", "root/app/__main__.py")
	root := filepath.Join(dir, "root")
	if _, _, err := resolve(t, words("outside.py:f"), root, dir); err == nil || !strings.Contains(err.Error(), "outside.py is outside of the package root "+root) {
		t.Errorf("got %v", err)
	}
	if _, _, err := resolve(t, words("-m", "pkg"), root, root); err == nil || !strings.Contains(err.Error(), "-m pkg: pkg is a package without __main__.py") {
		t.Errorf("got %v", err)
	}
	if _, _, err := resolve(t, words("-m", "app"), root, root); err != nil {
		t.Errorf("a package with __main__.py: %v", err)
	}
}

// What is only in the working directory is not in the bundle.
func TestResolveDoesNotFindModulesOutsideOfTheRoot(t *testing.T) {
	dir := project(t, "mod.py", "root/train.py")
	got, warnings, err := resolve(t, words("mod:f"), filepath.Join(dir, "root"), dir)
	if err != nil || got.File != "" || len(warnings) != 1 {
		t.Errorf("got %+v, %q, %v", got, warnings, err)
	}
}

func TestResolveFollowsSymbolicLinksToTheRoot(t *testing.T) {
	dir := project(t, "real/pkg/train.py")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	got, _, err := resolve(t, words("pkg/train.py"), filepath.Join(dir, "real"), link)
	if err != nil || got.File != "pkg/train.py" || got.Cwd != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}
