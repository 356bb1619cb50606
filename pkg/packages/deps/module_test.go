package deps

import "testing"

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
