package ui

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain text":            {"ValueError: no loss\n\tat line 3", "ValueError: no loss\n\tat line 3"},
		"other writing":         {"Grüße, 日本 — ✓", "Grüße, 日本 — ✓"},
		"colour":                {"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		"window title":          {"\x1b]0;pwned\a", `\x1b]0;pwned\a`},
		"one-byte C1 sequence":  {"\u009b2J", `\u009b2J`},
		"overwriting":           {"good\rbad \b", `good\rbad \b`},
		"delete":                {"\x7f", `\x7f`},
		"right to left":         {"a\u202eexe.txt", `a\u202eexe.txt`},
		"without width":         {"a\u200bb", `a\u200bb`},
		"not UTF-8":             {"a\xff\xc3(\x9b", `a\xff\xc3(\x9b`},
		"a replacement is text": {"a\ufffdb", "a\ufffdb"},
		"a no-break space":      {"10\u00a0s", "10\u00a0s"},
		"nothing":               {"", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Clean(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\r\n")
	f.Add("a\xff\u202e\ufffd")
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if !utf8.ValidString(got) {
			t.Errorf("Clean(%q) = %q is not UTF-8", text, got)
		}
		control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
		if strings.ContainsFunc(got, control) {
			t.Errorf("Clean(%q) = %q has a control character", text, got)
		}
		if again := Clean(got); again != got {
			t.Errorf("Clean(%q) = %q, and once more %q", text, got, again)
		}
	})
}
