//go:build !windows

package resolve_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// uv returns a resolver that finds a script in place of uv, which keeps what it was given in a
// directory, and then does as the text says. $out is the file that it has to write.
func uv(t testing.TB, text string, environ ...string) (r resolve.Resolver, kept string) {
	t.Helper()
	kept = t.TempDir()
	script := filepath.Join(t.TempDir(), "uv")
	write(t, script, `#!/bin/sh
kept="`+kept+`"
for a in "$@"; do
	echo "$a" >>"$kept/args"
	case "$a" in
	*/requirements.txt) cp -p "$a" "$kept/requirements.txt" ;;
	*/constraints.txt) cp -p "$a" "$kept/constraints.txt" ;;
	*/pylock.toml) out="$a" ;;
	esac
done
pwd >"$kept/pwd"
`+text, 0o755)
	r = without(t, environ...)
	r.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return script, nil
		}
		return "", exec.ErrNotFound
	}
	return r, kept
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pylock is what uv writes: all wheels that may fit, with credentials in no URL but in one, as it
// must not be.
func pylock(file string) string {
	return `cat >"$out" <<'END'
lock-version = "1.0"
created-by = "uv"
requires-python = ">=3.12.7"

[[packages]]
name = "native"
version = "2.0"
wheels = [
  { url = "https://me:` + secret + `@index.example/native-2.0-cp312-cp312-manylinux_2_17_x86_64.whl", size = 9, hashes = { sha256 = "` + strings.Repeat("a", 64) + `" } },
  { url = "https://index.example/native-2.0-cp312-cp312-manylinux_2_35_x86_64.whl", hashes = { sha256 = "` + strings.Repeat("b", 64) + `" } },
]

[[packages]]
name = "local-one"
version = "1"
archive = { path = "` + file + `", hashes = { sha256 = "` + sum([]byte("wheel")) + `" } }
END`
}

func TestUVResolves(t *testing.T) {
	t.Parallel()
	w := project(t, map[string]string{
		"requirements.txt": "--index-url https://us-python.pkg.dev/p/r/simple\n--extra-index-url https://me:" + secret + "@index.example/simple\n" +
			"--extra-index-url https://netrc.example/simple\n--find-links links\n--pre\n--trusted-host index.example\n--only-binary :none:\n" +
			"-c limits.txt\nnative[x]>=2 ; python_version > '3' # why\n./local_one-1-py3-none-any.whl[extra] ; python_version > '3'\n",
		"limits.txt":                   "native<3\n",
		"links/index.html":             "",
		"local_one-1-py3-none-any.whl": "wheel",
	})
	w.Added, w.AddedOptions = []string{"jax[tpu]>=0.4.6"}, []string{"--find-links https://storage.googleapis.com/libtpu.html"}
	local := filepath.Join(w.Root, "local_one-1-py3-none-any.whl")
	r, kept := uv(t, pylock(local))
	r.Token = func(context.Context) (string, error) { return "t0ken", nil }
	r.Home = t.TempDir()
	write(t, filepath.Join(r.Home, ".netrc"), "machine netrc.example login you password from-netrc\n", 0o600)
	if way, why := r.Method(t.Context(), w); way != resolve.UV || !strings.Contains(why, "uv") {
		t.Errorf("the way is %s, because %s", way, why)
	}
	env, err := r.Resolve(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"local-one==1 local_one-1-py3-none-any.whl", "native==2.0 native-2.0-cp312-cp312-manylinux_2_35_x86_64.whl"}, described(env.Packages)); diff != "" {
		t.Error(diff)
	}
	if p := env.Packages[0].Wheel; p.Path != local || p.Size != 5 {
		t.Errorf("%+v", p)
	}
	if u := env.Packages[1].Wheel.URL; strings.Contains(u, "@") {
		t.Error(u)
	}
	if env.By != resolve.UV {
		t.Errorf("by %s", env.By)
	}
	dir := strings.TrimSpace(read(t, filepath.Join(kept, "pwd")))
	want := strings.Join([]string{"pip", "compile", dir + "/requirements.txt", "--format", "pylock.toml", "--output-file", dir + "/pylock.toml", "--only-binary", ":all:",
		"--python-version", "3.12.7", "--python-platform", "x86_64-manylinux_2_36", "--no-header", "--no-progress", "--constraints", dir + "/constraints.txt",
		"--prerelease", "allow", "--allow-insecure-host", "index.example"}, "\n") + "\n"
	if diff := cmp.Diff(want, strings.ReplaceAll(read(t, filepath.Join(kept, "args")), "/private/", "/")); diff != "" {
		t.Error(diff)
	}
	want = "native[x]>=2 ; python_version > '3'\nlocal-one[extra] @ file://" + local + " ; python_version > '3'\njax[tpu]>=0.4.6\n" +
		"--index-url https://oauth2accesstoken:t0ken@us-python.pkg.dev/p/r/simple\n--extra-index-url https://me:" + secret + "@index.example/simple\n" +
		"--extra-index-url https://you:from-netrc@netrc.example/simple\n--find-links " + filepath.Join(w.Root, "links") + "\n--find-links https://storage.googleapis.com/libtpu.html\n" +
		"--pre\n--trusted-host index.example\n"
	if diff := cmp.Diff(want, read(t, filepath.Join(kept, "requirements.txt"))); diff != "" {
		t.Error(diff)
	}
	if got := read(t, filepath.Join(kept, "constraints.txt")); got != "native<3\n" {
		t.Errorf("constraints: %q", got)
	}
	if info, err := os.Stat(filepath.Join(kept, "requirements.txt")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others may read the credentials", info.Mode(), err)
	}
	isEmpty(t, r.TempDir)
}

// TestUVAsksTheProjectsIndex: uv asks what the command line, variables and its configuration name before what a file of
// requirements does, so the project's index is given to it as a variable.
func TestUVAsksTheProjectsIndex(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]string{"--index-url https://me:s3cr3t@ours/simple": "https://me:s3cr3t@ours/simple", "--extra-index-url https://more/simple": "https://v/simple"} {
		r, kept := uv(t, `echo "$UV_DEFAULT_INDEX" >"$kept/index"; exit 1`, "UV_DEFAULT_INDEX=https://v/simple")
		_, err := r.Resolve(t.Context(), requirements(t, option, "a"))
		if got := read(t, filepath.Join(kept, "index")); err == nil || got != want+"\n" {
			t.Errorf("%s: uv asks %q, want %s; %v", option, got, want, err)
		}
	}
}

// TestExtrasOfFiles: the extras of a wheel arrive however the line is written.
func TestExtrasOfFiles(t *testing.T) {
	t.Parallel()
	const file = "local_one-1-py3-none-any.whl"
	for line, want := range map[string]string{
		"./" + file:                  "local-one @ file://FILE",
		"./" + file + "[a,b]":        "local-one[a,b] @ file://FILE",
		"local-one[a,b] @ ./" + file: "local-one[a,b] @ file://FILE",
		"local-one[a] @ file://FILE ; os_name=='posix'": "local-one[a] @ file://FILE ; os_name=='posix'",
	} {
		r, kept := uv(t, "exit 1")
		w := project(t, map[string]string{file: "wheel"})
		path := filepath.Join(w.Root, file)
		write(t, filepath.Join(w.Root, "requirements.txt"), strings.ReplaceAll(line, "FILE", path)+"\n", 0o600)
		found, err := deps.Find(deps.Options{Root: w.Root, EntryDir: w.Root, Cwd: w.Root, Home: w.Root})
		if err != nil {
			t.Fatal(err)
		}
		w.Wanted = found
		if _, err := r.Resolve(t.Context(), w); err == nil {
			t.Error("a resolver that fails has no error")
		}
		if got := strings.TrimSpace(read(t, filepath.Join(kept, "requirements.txt"))); got != strings.ReplaceAll(want, "FILE", path) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestUVPlatform(t *testing.T) {
	t.Parallel()
	for libc, want := range map[string]string{
		"glibc 2.17": "manylinux_2_17", "glibc 2.27": "manylinux_2_17", "glibc 2.30": "manylinux_2_28", "glibc 2.31": "manylinux_2_31", "glibc 2.45": "manylinux_2_40",
		"musl 1.2": "unknown-linux-musl",
	} {
		r, kept := uv(t, "exit 1")
		w := requirements(t, "a")
		w.Target = wheel.Target{Python: "3.12", Arch: "arm64", Libc: libc}
		if _, err := r.Resolve(t.Context(), w); err == nil {
			t.Error("no error")
		}
		if args := read(t, filepath.Join(kept, "args")); !strings.Contains(args, "\naarch64-"+want+"\n") {
			t.Errorf("%s: got %s", libc, args)
		}
	}
}

func TestUVFails(t *testing.T) {
	t.Parallel()
	s := newServer(t, map[string][]byte{"only_sdist-1.tar.gz": []byte("x"), "foreign-1-cp27-cp27m-win_amd64.whl": []byte("x")})
	for name, c := range map[string]struct {
		script string
		want   []string
		check  func(error) bool
	}{
		"conflict": {
			`echo "warning: something" >&2
cat >&2 <<'END'
  × No solution found when resolving dependencies:
  ╰─▶ Because b==1 depends on only-sdist>=2 and you require only-sdist<2, we can conclude
      that your requirements are unsatisfiable.
END
exit 1`, []string{"only-sdist<2 (requirements.txt:2), b (the job's runtime) conflict with each other", "uv says:", "╰─▶ Because b==1 depends"}, is[*resolve.ConflictError],
		},
		"source archive": {
			"cat >&2 <<'END'\n  × No solution found when resolving dependencies:\n  ╰─▶ Because all versions of only-sdist have no usable wheels\n      and you require\n" +
				"\n      hint: Wheels are required for `only-sdist` because building\n END\nEND\nexit 1",
			[]string{"only-sdist 1 from " + s.URL}, is[*resolve.NeedsBuildError],
		},
		"wheel for others": {
			`echo "  ╰─▶ Because foreign==1 has no wheels with a matching Python version tag" >&2; exit 1`, []string{"no wheel of foreign 1 fits Python 3.12"}, is[*wheel.NoFitError],
		},
		"nowhere": {
			`echo "  × No solution found when resolving dependencies:
  ╰─▶ Because gone was not found in the package registry and you require gone>5, we can
      conclude that your requirements are unsatisfiable." >&2; exit 1`,
			[]string{"requirements.txt: no index has gone for Python 3.12: correct its name or version", "uv says:\n", "Because gone was not found"}, is[*resolve.MistakeError],
		},
		"no such version": {
			`echo "  ╰─▶ Because there is no version of foreign>1 and you require it, we can conclude that your requirements are unsatisfiable" >&2; exit 1`,
			[]string{"no wheel of foreign 1 fits"}, is[*wheel.NoFitError],
		},
		"credentials in its words": {
			`echo "error: https://me:` + secret + `@index.example/simple?sig=` + secret + ` says no, ` + secret + `" >&2; exit 2`,
			[]string{"error: https://***@index.example/simple?*** says no, ***", "exit status 2", "uv could not resolve the requirements"}, is[*resolve.FailedError],
		},
		"an old version": {
			`echo "error: unexpected argument '--format' found" >&2; exit 2`, []string{"uv could not resolve the requirements (exit status 2):\nerror: unexpected argument '--format' found"}, is[*resolve.FailedError],
		},
		"no answer": {
			`echo "error: Request failed after 3 retries
  Caused by: Failed to fetch: https://index.example/simple/b/" >&2; exit 2`, []string{"uv could not resolve the requirements (exit status 2):\nerror: Request failed after 3 retries", "Failed to fetch: https://index.example/simple/b/"}, isNot[*resolve.MistakeError],
		},
		"no words":          {"exit 3", []string{"uv could not resolve the requirements: exit status 3"}, is[*resolve.FailedError]},
		"many words":        {"seq 100000 >&2; exit 1", []string{"\n99989\n", "\n100000"}, is[*resolve.FailedError]},
		"nothing written":   {"exit 0", []string{"it has written nothing"}, isAny},
		"garbage":           {`echo "<html>" >"$out"`, []string{"reading what uv has chosen: its result"}, isAny},
		"an endless result": {`truncate -s 65M "$out" || dd if=/dev/zero of="$out" bs=1M count=65 2>/dev/null`, []string{"it has more than 64 MiB"}, isAny},
		"an odd URL": {
			`cat >"$out" <<'END'
lock-version = "1.0"
[[packages]]
name = "a"
wheels = [{ url = "ftp://x/a-1-py3-none-any.whl", hashes = { sha256 = "` + strings.Repeat("a", 64) + `" } }]
END`, []string{"package a", "can't be fetched by ftp"}, isAny,
		},
		"what does not fit": {
			`cat >"$out" <<'END'
lock-version = "1.0"
[[packages]]
name = "a"
version = "1"
sdist = { url = "https://x/a-1.tar.gz", hashes = { sha256 = "` + strings.Repeat("a", 64) + `" } }
END`, []string{"a 1 from https://x/a-1.tar.gz"}, is[*resolve.NeedsBuildError],
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := uv(t, c.script)
			w := requirements(t, "--index-url "+s.withLogin("me", secret), "only-sdist<2")
			w.Added = []string{"b"}
			env, err := r.Resolve(t.Context(), w)
			if err == nil {
				t.Fatalf("got %v", described(env.Packages))
			}
			if !c.check(err) {
				t.Errorf("the error is a %T: %v", err, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), r.TempDir) || len(err.Error()) > 1000 {
				t.Errorf("the error has %d characters:\n%v", len(err.Error()), err)
			}
			isEmpty(t, r.TempDir)
		})
	}
}

// What the tool has started ends with it.
func TestUVHangs(t *testing.T) {
	t.Parallel()
	r, kept := uv(t, `exec 3>"$kept/pipe"; sleep 1000 & wait`)
	if err := syscall.Mkfifo(filepath.Join(kept, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	failed := make(chan error, 1)
	w := requirements(t, "a")
	go func() {
		_, err := r.Resolve(ctx, w)
		failed <- err
	}()
	pipe, err := os.Open(filepath.Join(kept, "pipe")) // as soon as the script has it, too
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	cancel(errors.New("interrupted by the test"))
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "uv did not end: interrupted by the test") {
		t.Errorf("got %v", err)
	}
	if _, err := io.ReadAll(pipe); err != nil { // as soon as no process has it any more
		t.Error(err)
	}
	isEmpty(t, r.TempDir)
}

func TestUVCannotStart(t *testing.T) {
	t.Parallel()
	r, _ := uv(t, "")
	r.LookPath = func(string) (string, error) { return "/nowhere/uv", nil }
	if _, err := r.Resolve(t.Context(), requirements(t, "a")); !is[*resolve.FailedError](err) || !strings.Contains(err.Error(), "/nowhere/uv") {
		t.Errorf("got %v", err)
	}
	r.TempDir = "/nowhere"
	if _, err := r.Resolve(t.Context(), requirements(t, "a")); err == nil || !strings.Contains(err.Error(), "making a temporary directory for uv") {
		t.Errorf("got %v", err)
	}
}

func TestSettingsThatAreWrong(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]string{
		"--index-url https://${NO_USER}@h/simple":          "requirements.txt: --index-url: the variable NO_USER is not set",
		"--index-url nonsense":                             "requirements.txt: --index-url: nonsense is not a URL such as https://pypi.org/simple",
		"--extra-index-url ftp://u:" + secret + "@h/":      "ftp://h/ is not an https, http or file URL",
		"--index-url https://eu-python.pkg.dev/p/r/simple": "getting an access token for eu-python.pkg.dev: no login",
	} {
		r, _ := uv(t, "exit 1")
		r.Token = func(context.Context) (string, error) { return "", errors.New("no login") }
		_, err := r.Resolve(t.Context(), requirements(t, option, "a"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) || is[*resolve.MistakeError](err) == strings.Contains(want, "no login") {
			t.Errorf("%s: got %v, want %q", option, err, want)
		}
	}
}

func TestPythonThatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := project(t, map[string]string{"pyproject.toml": "[project]\nrequires-python = '>=3.13'\ndependencies = ['a']\n"})
	_, err := without(t).Resolve(t.Context(), w)
	if want := "pyproject.toml: it requires Python >=3.13, but the job has Python 3.12.7: choose another with --python or --base-image"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	env, err := without(t).Resolve(t.Context(), resolve.Request{Wanted: deps.Wanted{}, Target: target})
	if err != nil || len(env.Packages) > 0 || env.By != resolve.Nothing || env.NeedsBuild() != nil {
		t.Errorf("got %+v, %v", env, err)
	}
}
