package platform

import "testing"

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"a\n":                           "a\n",
		"\xef\xbb\xbfa":                 "a",
		"\xff\xfea\x00\xe4\x00\n\x00":   "aä\n",
		"\xfe\xff\x00a\xd8\x3d\xde\x00": "a😀",
		"\xff\xfea\x00b":                "a",
		"\xff":                          "\xff",
	} {
		if got := string(Text([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
