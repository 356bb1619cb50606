package resolve_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// pip returns a resolver that finds the real python3, and the target that its pip can resolve for.
func pip(t testing.TB, environ ...string) (resolve.Resolver, wheel.Target) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("pip resolves for Linux only on Linux")
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	out, err := exec.Command(path, "-I", "-c", `import json, sys
from importlib.metadata import version
print(json.dumps(["%d.%d" % sys.version_info[:2], version("pip"), sys.executable]))`).Output()
	var facts [3]string
	if err == nil {
		err = json.Unmarshal(out, &facts)
	}
	if err != nil {
		t.Skip("python3 has no pip: ", err)
	}
	if major, _, _ := strings.Cut(facts[1], "."); major < "22" && len(major) < 3 {
		t.Skip("pip is too old: ", facts[1])
	}
	r := without(t, environ...)
	r.LookPath = func(name string) (string, error) {
		if name == "python3" {
			return facts[2], nil
		}
		return "", exec.ErrNotFound
	}
	return r, wheel.Target{Python: facts[0], Arch: runtime.GOARCH, Libc: "glibc 2.28"}
}

// machine is the processor in the tags of wheels.
func machine(target wheel.Target) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[target.Arch]
}

func TestPipResolves(t *testing.T) {
	t.Parallel()
	r, target := pip(t, "INDEX_USER=me", "INDEX_PASSWORD="+secret,
		"PIP_USER=1", "PIP_REQUIRE_VIRTUALENV=1", "PIP_TARGET=/nowhere", "PIP_NO_BINARY=:all:", "PYTHONPATH=/nowhere") // which must not matter
	old, tooNew := "native-2.0-py3-none-manylinux_2_17_"+machine(target)+".whl", "native-2.0-py3-none-manylinux_2_35_"+machine(target)+".whl"
	s := newServer(t, map[string][]byte{
		"top-1.0-py3-none-any.whl":       wheelOf(t, "top-1.0-py3-none-any.whl", "native>=2", "under_score; python_version>='3'", "never; sys_platform=='win32'"),
		old:                              wheelOf(t, old),
		tooNew:                           wheelOf(t, tooNew),
		"under_score-1-py3-none-any.whl": wheelOf(t, "under_score-1-py3-none-any.whl"),
		"under_score-2-py3-none-any.whl": wheelOf(t, "under_score-2-py3-none-any.whl"),
		"added-3-py3-none-any.whl":       wheelOf(t, "added-3-py3-none-any.whl"),
	})
	s.password = secret
	w := project(t, map[string]string{
		"requirements.txt": "--index-url " + strings.Replace(s.withLogin("U", "P"), "U:P", "${INDEX_USER}:${INDEX_PASSWORD}", 1) +
			"\n-c limits.txt\ntop\n./own/local_one-1-py3-none-any.whl\nlinked\n--find-links 'my links'\n",
		"limits.txt":                         "under-score<2\n",
		"own/local_one-1-py3-none-any.whl":   string(wheelOf(t, "local_one-1-py3-none-any.whl")),
		"my links/linked-1-py3-none-any.whl": string(wheelOf(t, "linked-1-py3-none-any.whl")),
	})
	w.Target, w.Added = target, []string{"added>2"}
	unknown := w
	unknown.Target.Python = ""
	for _, wish := range []resolve.Request{w, unknown} {
		way, why := r.Method(t.Context(), wish)
		if depends := strings.Contains(why, "if the base image has Python "+target.Python); way != resolve.Pip || depends != (wish.Target.Python == "") {
			t.Errorf("for Python %q, the way is %s, because %s", wish.Target.Python, way, why)
		}
	}
	env, err := r.Resolve(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"added==3 added-3-py3-none-any.whl", "linked==1 linked-1-py3-none-any.whl", "local-one==1 local_one-1-py3-none-any.whl",
		"native==2.0 " + old, "top==1.0 top-1.0-py3-none-any.whl", "under-score==1 under_score-1-py3-none-any.whl"}
	if diff := cmp.Diff(want, described(env.Packages)); diff != "" {
		t.Error(diff)
	}
	for _, p := range env.Packages {
		data, known := s.files[p.Wheel.File]
		switch {
		case known && (p.Wheel.SHA256 != sum(data) || p.Wheel.URL != s.URL+"/files/"+p.Wheel.File || p.Wheel.Path != ""):
			t.Errorf("%+v", p.Wheel)
		case !known && (p.Wheel.URL != "" || !filepath.IsAbs(p.Wheel.Path) || len(p.Wheel.SHA256) != 64 || p.Wheel.Size == 0):
			t.Errorf("%+v", p.Wheel)
		}
	}
	if env.By != resolve.Pip {
		t.Errorf("by %s", env.By)
	}
	isEmpty(t, r.TempDir)
}

func TestPipFails(t *testing.T) {
	t.Parallel()
	_, target := pip(t)
	foreign := "foreign-1-cp27-cp27m-win_amd64.whl"
	s := newServer(t, map[string][]byte{
		"a-1-py3-none-any.whl":            wheelOf(t, "a-1-py3-none-any.whl", "b>=2"),
		"b-1-py3-none-any.whl":            wheelOf(t, "b-1-py3-none-any.whl"),
		"b-2-py3-none-any.whl":            wheelOf(t, "b-2-py3-none-any.whl"),
		"needs_sdist-1-py3-none-any.whl":  wheelOf(t, "needs_sdist-1-py3-none-any.whl", "sdist"),
		"needs_b-1-py3-none-any.whl":      wheelOf(t, "needs_b-1-py3-none-any.whl", "b>=9"),
		"sdist-1.5.tar.gz":                []byte("never unpacked"),
		foreign:                           wheelOf(t, foreign),
		"both-1-cp27-cp27m-win_amd64.whl": wheelOf(t, "both-1-cp27-cp27m-win_amd64.whl"),
		"both-1.tar.gz":                   []byte("never unpacked"),
	})
	s.password = secret
	for name, c := range map[string]struct {
		lines []string
		added []string
		want  []string
		check func(error) bool
	}{
		"conflict": {
			lines: []string{"# comment", "a==1", "b<2"}, want: []string{"a==1 (requirements.txt:3)", "b<2 (requirements.txt:4)", "conflict with each other", "a 1 depends on b>=2"},
			check: is[*resolve.ConflictError],
		},
		"conflict with the runtime": {
			lines: []string{"b==1"}, added: []string{"a"}, want: []string{"b==1 (requirements.txt:2)", "a (the job's runtime)", "change a version, or leave out the runtime with --runtime none"}, check: is[*resolve.ConflictError],
		},
		"source archive": {
			lines: []string{"sdist>=1"}, want: []string{"sdist 1.5 from " + s.URL + "/files/sdist-1.5.tar.gz", "it has no wheel"}, check: is[*resolve.NeedsBuildError],
		},
		"source archive of a dependency": {
			lines: []string{"needs-sdist"}, want: []string{"sdist 1.5"}, check: is[*resolve.NeedsBuildError],
		},
		"wheel for others, and source archive": {
			lines: []string{"both"}, want: []string{"both 1", "its wheels are for cp27-cp27m"}, check: is[*resolve.NeedsBuildError],
		},
		"wheel for others": {
			lines: []string{"foreign"}, want: []string{"requirements.txt:2: no wheel of foreign 1 fits Python", "cp27-cp27m"}, check: is[*wheel.NoFitError],
		},
		"nowhere": {
			lines: []string{"nowhere==4"}, want: []string{"requirements.txt:2: no index has nowhere==4 for Python " + target.Python + ": correct its name or version", "No matching distribution found for nowhere==4"}, check: is[*resolve.MistakeError],
		},
		"no such version": {
			lines: []string{"a==7"}, want: []string{"requirements.txt:2: no index has a==7 for Python", "(from versions: 1)"}, check: is[*resolve.MistakeError],
		},
		"no such version of a dependency": {
			lines: []string{"needs-b"}, want: []string{"requirements.txt:2: no index has b>=9 for Python"}, check: is[*resolve.MistakeError],
		},
		"an index that is down": {
			lines: []string{"--index-url http://127.0.0.1:1/simple", "nowhere==4"}, added: []string{"jax"},
			want: []string{"asking the index http://127.0.0.1:1/simple for nowhere", "connection refused", "pip has tried for "}, check: isNot[*resolve.MistakeError],
		},
		"an index without what the runtime needs": {
			lines: []string{"b"}, added: []string{"jax"}, want: []string{"the job's runtime: no index has jax for Python"}, check: is[*resolve.MistakeError],
		},
		"wrong credentials": {
			lines: []string{"--index-url " + s.withLogin("me", "wr0ng-pass"), "b"}, want: []string{"asking the index " + s.URL + "/simple for b: it does not accept the credentials"}, check: isAny,
		},
		"no credentials": {
			lines: []string{"--index-url " + s.URL + "/simple", "b"}, want: []string{"for b: it requires credentials"}, check: isAny,
		},
		"a host without TLS": {
			lines: []string{"--index-url " + strings.Replace(s.withLogin("me", secret), "127.0.0.1", "0.0.0.0", 1), "b==1"}, want: []string{"0.0.0.0 is not a trusted or secure host", "--trusted-host 0.0.0.0", "No matching distribution found for b==1"},
			check: isNot[*resolve.MistakeError],
		},
		"repository": {
			lines: []string{"x @ git+https://user:" + secret + "@example.com/x"}, want: []string{"x from git+https://***@example.com/x", "requirements.txt:2"}, check: is[*resolve.NeedsBuildError],
		},
		"binaries that are not wanted": {
			lines: []string{"--no-binary a", "a"}, want: []string{"a", "--no-binary"}, check: is[*resolve.NeedsBuildError],
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := pip(t, "PIP_RETRIES=1")
			w := requirements(t, append([]string{"--index-url " + s.withLogin("me", secret)}, c.lines...)...)
			w.Target, w.Added = target, c.added
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
			for _, never := range []string{secret, "wr0ng-pass", r.TempDir} {
				if strings.Contains(err.Error(), never) {
					t.Errorf("%q is in:\n%v", never, err)
				}
			}
			isEmpty(t, r.TempDir)
		})
	}
}

func isAny(error) bool { return true }

func isNot[E error](err error) bool { return !is[E](err) }

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// A wheel of an index may require what has to be built, which pip would do at once.
func TestPipRunsNothing(t *testing.T) {
	t.Parallel()
	r, target := pip(t)
	marker := filepath.Join(t.TempDir(), "ran")
	source := filepath.Join(t.TempDir(), "evil")
	write(t, filepath.Join(source, "setup.py"), "open('"+marker+"', 'w')\n", 0o644)
	if out, err := exec.Command("tar", "-C", filepath.Dir(source), "-czf", source+"-1.tar.gz", "evil").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := newServer(t, map[string][]byte{"a-1-py3-none-any.whl": wheelOf(t, "a-1-py3-none-any.whl", "evil @ file://"+source+"-1.tar.gz")})
	w := requirements(t, "--index-url "+s.URL+"/simple", "a")
	w.Target = target
	_, err := r.Resolve(t.Context(), w)
	var build *resolve.NeedsBuildError
	if !errors.As(err, &build) || !strings.HasSuffix(build.Packages[0].Source, "evil-1.tar.gz") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("setup.py was run")
	}
}

func TestNotHere(t *testing.T) {
	t.Parallel()
	_, here := pip(t)
	elsewhere := here
	elsewhere.Arch = map[string]string{"amd64": "arm64", "arm64": "amd64"}[here.Arch]
	other := here
	other.Python = "3.99"
	unknown := here
	unknown.Python = ""
	interpreter := func(text string) func(*testing.T) resolve.Resolver {
		return func(t *testing.T) resolve.Resolver {
			r := without(t)
			script := filepath.Join(t.TempDir(), "python3")
			write(t, script, "#!/bin/sh\n"+text+"\n", 0o755)
			r.LookPath = func(name string) (string, error) {
				if name == "python3" {
					return script, nil
				}
				return "", exec.ErrNotFound
			}
			return r
		}
	}
	says := func(pip string) string {
		return `echo '{"executable":"/x","python":"` + here.Python + `","implementation":"cpython","system":"linux","machine":"` + machine(here) + `","pip":"` + pip + `"}'`
	}
	for name, c := range map[string]struct {
		resolver func(*testing.T) resolve.Resolver
		target   wheel.Target
		want     string
	}{
		"nothing":                {func(t *testing.T) resolve.Resolver { return without(t) }, here, "there is neither uv nor python3"},
		"another processor":      {func(t *testing.T) resolve.Resolver { r, _ := pip(t); return r }, elsewhere, "pip resolves only for its own platform"},
		"another Python":         {func(t *testing.T) resolve.Resolver { r, _ := pip(t); return r }, other, "pip resolves only for its own Python, which is " + here.Python},
		"no pip":                 {interpreter(says("")), here, "it has no pip"},
		"an old pip":             {interpreter(says("21.3.1")), here, "its pip is 21.3.1, and 22.2 is needed"},
		"an odd pip":             {interpreter(says("x")), here, "its pip is x"},
		"another implementation": {interpreter(strings.Replace(says("24"), "cpython", "pypy", 1)), here, "it is pypy"},
		"garbage":                {interpreter("echo garbage"), here, `it answers "garbage"`},
		"a broken interpreter":   {interpreter("echo cannot start >&2; exit 3"), here, "exit status 3: cannot start"},
		"a shim":                 {interpreter("printf 'pyenv: python3: command not found\\n\\nThe command exists in:\\n  3.12\\n'; exit 127"), here, "exit status 127: pyenv: python3: command not found"},
		"a broken python beside it": {func(t *testing.T) resolve.Resolver {
			r, other := interpreter(says("21.3.1"))(t), interpreter("echo cannot start >&2; exit 3")(t)
			python3 := r.LookPath
			r.LookPath = func(name string) (string, error) {
				if name == "python" {
					return other.LookPath("python3")
				}
				return python3(name)
			}
			return r
		}, unknown, "its pip is 21.3.1, and 22.2 is needed"},
		"a download": {interpreter(says("25.2")), here, "would download torch only to resolve it"},
	} {
		w := requirements(t, "a")
		if name == "a download" {
			w = requirements(t, "a\ntorch>=2")
		}
		w.Target = c.target
		r := c.resolver(t)
		if way, why := r.Method(t.Context(), w); way != resolve.Pod || !strings.Contains(why, c.want) {
			t.Errorf("%s: the way is %s, because %s", name, way, why)
		}
		_, err := r.Resolve(t.Context(), w)
		if !is[*resolve.NotHereError](err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "install uv") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("it took too long"))
	defer cancel()
	w := requirements(t, "a")
	w.Target = here
	if _, err := interpreter("sleep 1000")(t).Resolve(ctx, w); err == nil || !strings.Contains(err.Error(), "it took too long") {
		t.Errorf("got %v", err)
	}
}

func TestWay(t *testing.T) {
	t.Parallel()
	r := without(t)
	for name, c := range map[string]struct {
		wish resolve.Request
		want resolve.Method
	}{
		"nothing": {resolve.Request{Target: target}, resolve.Nothing},
		"hashes":  {requirements(t, "a==1 --hash=sha256:"+strings.Repeat("a", 64)), resolve.Hashes},
		"pod":     {requirements(t, "a"), resolve.Pod},
		"build":   {requirements(t, "a @ git+https://h/a"), resolve.Pod},
		"pylock":  {project(t, map[string]string{"pylock.toml": "lock-version = '1.0'\n"}), resolve.PyLock},
	} {
		if way, why := r.Method(t.Context(), c.wish); way != c.want || why == "" {
			t.Errorf("%s: got %q, because %s", name, way, why)
		}
	}
}
