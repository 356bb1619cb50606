package frontdoor

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// installed lays the plugin out as krew does, in two folders, and returns them.
func installed(t *testing.T) (store, bin string) {
	t.Helper()
	root := t.TempDir()
	store, bin = filepath.Join(root, "store", "kinetic", "v0.1.0"), filepath.Join(root, "bin")
	for _, dir := range []string{store, bin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeProgram(t, filepath.Join(store, "kubectl-kinetic"), 0o755)
	symlink(t, filepath.Join(store, "kubectl-kinetic"), filepath.Join(bin, "kubectl-kinetic"))
	t.Setenv("PATH", bin)
	t.Setenv("HOME", filepath.Join(root, "home"))
	t.Setenv("SHELL", "/usr/bin/zsh")
	return store, bin
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

func write644(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestInstallsCompletion(t *testing.T) {
	const file = "/kubectl_complete-kinetic"
	tests := map[string]struct {
		before func(t *testing.T, store, bin string)
		args   []string
		code   int
		says   string // BIN and STORE stand for the folders
		link   string // "" if none is there
	}{
		"beside the link of krew": {nil, nil, 0, "linked BIN" + file + " to kubectl-kinetic\n", "kubectl-kinetic"},
		"a dry-run":               {nil, []string{"--dry-run"}, 0, "would link BIN" + file + " to kubectl-kinetic\n", ""},
		"again": {func(t *testing.T, _, bin string) { symlink(t, "kubectl-kinetic", bin+file) }, nil,
			0, "already installed: BIN" + file + "\n", "kubectl-kinetic"},
		"a link with the whole path": {func(t *testing.T, _, bin string) { symlink(t, bin+"/kubectl-kinetic", bin+file) }, nil,
			0, "already installed: BIN" + file + "\n", "BIN/kubectl-kinetic"},
		"a link into the folder of a version": {func(t *testing.T, store, bin string) { symlink(t, store+"/kubectl-kinetic", bin+file) }, nil,
			0, "linked BIN" + file + " to kubectl-kinetic instead of STORE/kubectl-kinetic\n", "kubectl-kinetic"},
		"a link to a version that is gone": {func(t *testing.T, _, bin string) { symlink(t, "/gone/kubectl-kinetic", bin+file) }, nil,
			0, "linked BIN" + file + " to kubectl-kinetic instead of /gone/kubectl-kinetic\n", "kubectl-kinetic"},
		"that in a dry-run": {func(t *testing.T, _, bin string) { symlink(t, "/gone/kubectl-kinetic", bin+file) }, []string{"--dry-run"},
			0, "would link BIN" + file + " to kubectl-kinetic instead of /gone/kubectl-kinetic\n", "/gone/kubectl-kinetic"},
		"a copy of another version": {func(t *testing.T, _, bin string) { write644(t, bin+file, "ELF "+signature+".Main") }, nil,
			0, "linked BIN" + file + " to kubectl-kinetic instead of a copy of another version\n", "kubectl-kinetic"},
		"a link to such a copy": {func(t *testing.T, store, bin string) {
			write644(t, store+"/kubectl-kinetic", signature)
			write644(t, store+file, signature)
			symlink(t, store+file, bin+file)
		}, nil, 0, "already installed: BIN" + file + "\n", "STORE" + file},
		"a file of someone else": {func(t *testing.T, _, bin string) { write644(t, bin+file, "#!/bin/sh\n") }, nil,
			1, "installing completion: BIN" + file + " is not from this plugin, so it was left as it is: ", ""},
		"a link of someone else": {func(t *testing.T, _, bin string) { symlink(t, "/bin/true", bin+file) }, nil,
			1, "installing completion: BIN" + file + " is not from this plugin, so it was left as it is: ", "/bin/true"},
		"a directory that does not exist": {nil, []string{"--dir", "/gone/bin"}, 2, `--dir "/gone/bin": no such directory; the plugin is in BIN`, ""},
		"a directory without a name":      {nil, []string{"--dir", ""}, 2, `--dir "": no such directory; the plugin is in BIN`, ""},
		"a plugin that kubectl does not find": {func(t *testing.T, _, _ string) { t.Setenv("PATH", "/gone") }, nil,
			1, "installing completion: kubectl finds no kubectl-kinetic: add its directory to the PATH first: STORE\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store, bin := installed(t)
			if tt.before != nil {
				tt.before(t, store, bin)
			}
			got := answerIn(store, append([]string{"kubectl-kinetic", "completion", "install"}, tt.args...)...)
			text := strings.NewReplacer(store, "STORE", bin, "BIN").Replace(got.Stdout + strings.TrimPrefix(got.Stderr, "error: "))
			if got.Code != tt.code || !strings.HasPrefix(text, tt.says) {
				t.Errorf("exit code %d, want %d; it said %q, want %q", got.Code, tt.code, text, tt.says)
			}
			if tt.code == 0 && !strings.Contains(got.Stdout, "completion zsh") {
				t.Errorf("%q does not say how to enable completion in zsh", got.Stdout)
			}
			link, _ := os.Readlink(bin + file)
			if link = strings.NewReplacer(store, "STORE", bin, "BIN").Replace(link); link != tt.link {
				t.Errorf("the link is %q, want %q", link, tt.link)
			}
		})
	}
}

func TestInstallsCompletionBySystem(t *testing.T) {
	tests := map[string]struct{ file, plugin, shell string }{
		"linux":   {"kubectl_complete-kinetic", "kubectl-kinetic", "zsh"},
		"darwin":  {"kubectl_complete-kinetic", "kubectl-kinetic", "zsh"},
		"windows": {"kubectl_complete-kinetic.exe", "kubectl-kinetic.exe", "powershell"},
	}
	for goos, want := range tests {
		t.Run(goos, func(t *testing.T) {
			_, bin := installed(t)
			write644(t, filepath.Join(bin, "kubectl-kinetic.exe"), signature)
			n := installation{dir: bin, plugin: filepath.Join(bin, want.plugin), goos: goos}
			if _, err := n.install(os.Symlink); err != nil {
				t.Fatal(err)
			}
			if link, err := os.Readlink(filepath.Join(bin, want.file)); err != nil || link != want.plugin {
				t.Errorf("the link %s leads to %q, %v; want %q", want.file, link, err, want.plugin)
			}
			if got := n.shell(); got != want.shell {
				t.Errorf("the shell is %q, want %q", got, want.shell)
			}
		})
	}
}

// A link in another folder leads to the plugin on the PATH, not into the store of krew.
func TestInstallsCompletionElsewhere(t *testing.T) {
	store, bin := installed(t)
	dir := t.TempDir()
	got := answerIn(store, "kubectl-kinetic", "completion", "install", "--dir", dir)
	link, err := os.Readlink(filepath.Join(dir, "kubectl_complete-kinetic"))
	if err != nil || got.Code != 0 || link != filepath.Join(bin, "kubectl-kinetic") {
		t.Errorf("the link is %q, %v; %+v", link, err, got)
	}
	if want := "warning: kubectl does not find it yet: add " + dir + " to the PATH\n"; got.Stderr != want {
		t.Errorf("it said %q, want %q", got.Stderr, want)
	}
	t.Setenv("PATH", dir+":"+bin)
	got = answerIn(store, "kubectl-kinetic", "completion", "install")
	if want := "warning: kubectl finds " + dir + "/kubectl_complete-kinetic first: "; got.Code != 0 || !strings.HasPrefix(got.Stderr, want) {
		t.Errorf("it said %q, want %q", got.Stderr, want)
	}
}

// Without the right to write beside the plugin, completion goes to a folder of the user.
func TestInstallsCompletionBelowHome(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	store, bin := installed(t)
	own := filepath.Join(os.Getenv("HOME"), ".local", "bin")
	if err := errors.Join(os.MkdirAll(own, 0o755), os.Chmod(bin, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(bin, 0o755) }) // so that it can be removed
	got := answerIn(store, "kubectl-kinetic", "completion", "install")
	if got.Code != 1 || !strings.Contains(got.Stderr, "with --dir") {
		t.Errorf("%s is not on the PATH, but %+v", own, got)
	}
	t.Setenv("PATH", bin+":"+own+"/")
	got = answerIn(store, "kubectl-kinetic", "completion", "install")
	if want := "linked " + own + "/kubectl_complete-kinetic to " + bin + "/kubectl-kinetic\n"; got.Code != 0 || !strings.HasPrefix(got.Stdout, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// Where links are not allowed, as on Windows for most users, it is a copy.
func TestCopiesWhereLinksAreNotAllowed(t *testing.T) {
	store, bin := installed(t)
	write644(t, filepath.Join(store, "kubectl-kinetic"), signature+" 1")
	if err := os.Chmod(filepath.Join(store, "kubectl-kinetic"), 0o755); err != nil {
		t.Fatal(err)
	}
	install := func() string {
		var stdout bytes.Buffer
		p := Process{Args: []string{"kubectl-kinetic", "completion", "install"}, Stdout: &stdout, Stderr: &stdout,
			Symlink: func(string, string) error { return errors.New("a required privilege is not held by the client") }}
		if code := p.Run(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		first, _, _ := strings.Cut(stdout.String(), "\n")
		return first
	}
	file := filepath.Join(bin, "kubectl_complete-kinetic")
	copied := "copied " + filepath.Join(bin, "kubectl-kinetic") + " to " + file + "; after an upgrade, run this command again"
	if got := install(); got != copied {
		t.Errorf("it said %q, want %q", got, copied)
	}
	if got, want := install(), "already installed: "+file; got != want {
		t.Errorf("again, it said %q, want %q", got, want)
	}
	write644(t, filepath.Join(store, "kubectl-kinetic"), signature+" 2")
	if got := install(); got != copied {
		t.Errorf("after an upgrade, it said %q, want %q", got, copied)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != signature+" 2" {
		t.Errorf("the copy is %q, %v", got, err)
	}
}
