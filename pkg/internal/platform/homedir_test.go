package platform

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDir(t *testing.T) {
	env := map[string]string{"HOME": "/c/Users/me", "USERPROFILE": `C:\Users\me`}
	read := func(name string) string { return env[name] }
	for goos, want := range map[string]string{"linux": "/c/Users/me", "darwin": "/c/Users/me", "windows": `C:\Users\me`} {
		if got := dir(read, goos); got != want {
			t.Errorf("%s: got %q, want %q", goos, got, want)
		}
	}
}

func TestExpand(t *testing.T) {
	for path, want := range map[string]string{"~": "/home/me", "~/a/b": "/home/me/a/b", "~a": "~a", "a/~": "a/~", "/a": "/a", "": ""} {
		if got := filepath.ToSlash(ExpandHome(path, "/home/me")); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
	if got := ExpandHome("~/a", ""); got != "~/a" {
		t.Errorf("without a home directory: got %q", got)
	}
}

func TestDirIsThatOfTheStandardLibrary(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("USERPROFILE", `C:\Users\me`)
	want, err := os.UserHomeDir()
	if got := HomeDir(os.Getenv); err != nil || got != want {
		t.Errorf("got %q, want %q, %v", got, want, err)
	}
}
