package human

import (
	"os/exec"
	"testing"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "''",
		"kind-dev":                "kind-dev",
		"gs://bucket/prefix":      "gs://bucket/prefix",
		"/home/me/My Drive/store": "'/home/me/My Drive/store'",
		"it's $HOME":              `'it'\''s $HOME'`,
		"~/store":                 "'~/store'",
		"a\nb; rm -r *":           "'a\nb; rm -r *'",
	} {
		got := Quote(text)
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+got).Output(); err != nil || string(out) != text {
			t.Errorf("a shell takes %s for %q, want %q: %v", got, out, text, err)
		}
	}
}
