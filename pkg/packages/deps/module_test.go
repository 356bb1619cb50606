package deps

import (
	"strings"
	"testing"
)

func TestProjectOfALine(t *testing.T) {
	for text, want := range map[string]string{
		"Some_Name[x]>=1 ; extra == 'y'":                         "some-name",
		"some.name @ https://h/x.tar.gz":                         "some-name",
		"https://h/Some_Name-1%2Bcpu-py3-none-any.whl":           "some-name",
		"https://h/a-1-py3-none-any.whl?s=1#sha256=0 ; x":        "a",
		"https://h/a-1-py3-none-any.whl; python_version > '3.9'": "a",
		"git+https://h/r@v1#subdirectory=d&egg=A":                "a",
		"https://h/a-1.tar.gz":                                   "",
	} {
		if got := (Line{Text: text}).Project(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A project that is read with several extras is warned of once.
func TestWarningsAreGivenOnce(t *testing.T) {
	w, err := Find(at(project(t, "-- requirements.txt --\n-e .[a]\n-e .[b]\n-- pyproject.toml --\n[project]\nname = 'x'\ndynamic = ['dependencies']\n"+
		"[project.optional-dependencies]\na = ['c']\nb = ['d']\n"), ""))
	if all := strings.Join(w.Warnings, "\n"); err != nil || strings.Count(all, "its dependencies are dynamic") != 1 {
		t.Errorf("%s, %v", all, err)
	}
}
