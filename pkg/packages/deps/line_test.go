package deps

import (
	"testing"
)

func TestBesidePath(t *testing.T) {
	for text, want := range map[string][2]string{
		"./ours.whl":          {"", ""},
		"./ours.whl[gpu,tpu]": {"[gpu,tpu]", ""},
		"./a[1]/ours.tar.gz ; python_version < '3'": {"", "python_version < '3'"},
		"./ours.whl [gpu]; extra == 'x'":            {"[gpu]", "extra == 'x'"},
		"ours[gpu] @ file:///p/ours.whl":            {"[gpu]", ""},
		"./me@home/ours.whl[gpu]":                   {"[gpu]", ""},
	} {
		if extras, marker := (Line{Text: text}).BesidePath(); extras != want[0] || marker != want[1] {
			t.Errorf("%s: got %q and %q, want %q", text, extras, marker, want)
		}
	}
}

func TestWithoutUsers(t *testing.T) {
	for text, want := range map[string]string{
		"x @ git+https://${TOKEN}@h.example:8443/r@v1":   "x @ git+https://h.example:8443/r@v1",
		"--index-url HTTPS://me:p@ss@h.example/simple":   "--index-url HTTPS://h.example/simple",
		"x @ git+ssh://git@h.example/r@v1":               "x @ git+ssh://git@h.example/r@v1",
		"x @ git+ssh://git:secret@h.example:22/r.git@v1": "x @ git+ssh://git@h.example:22/r.git@v1",
		"x @ https://h.example:8443/a@b/x.whl":           "x @ https://h.example:8443/a@b/x.whl",
	} {
		if got := WithoutUsers(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestSigned(t *testing.T) {
	for text, want := range map[string]bool{
		"https://h/x.whl?se=1&sig=a":                        true,
		"https://h/x.whl?X-Goog-Signature=a":                true,
		"https://h/x.whl?X-Amz-Security-Token=a":            true,
		"x @ https://h/x.whl?access_token=a#egg=x":          true,
		"https://h/x.whl?download=1#sha256=a":               false,
		"x @ git+https://h/r@v1; python_version < '3'":      false,
		"https://h/design=1/x.whl?signature-of-nothing&v=1": false,
	} {
		if got := Signed(text); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}
