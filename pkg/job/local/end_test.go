package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLastWords(t *testing.T) {
	tests := map[string]struct{ out, want string }{
		"nothing":           {"", ""},
		"a traceback":       {"Traceback (most recent call last):\n  File \"x\"\nMemoryError\n", "MemoryError"},
		"empty lines after": {"a\nb\r\n\n  \n", "b"},
		"much before":       {strings.Repeat("noise\n", maxWords) + "the end\n", "the end"},
		"one endless line":  {strings.Repeat("x", 3*maxWords), strings.Repeat("x", maxWords)},
		"not UTF-8":         {"a\xff\xfeb\n", "a?b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), outFile)
			if err := os.WriteFile(path, []byte(tt.out), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := lastWords(path); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := lastWords(filepath.Join(t.TempDir(), outFile)); got != "" {
		t.Errorf("without a file: %q", got)
	}
}
