package report

import (
	"io"
	"strings"
	"testing"
)

func TestHeard(t *testing.T) {
	for name, tt := range map[string]struct {
		log      string
		warnings bool
	}{
		"nothing":               {"", false},
		"a warning":             {"before\nkinetic: warning: lost\nafter", true},
		"of a host":             {"\x1b[36mhost-1 │ \x1b[0mkinetic: warning: lost\n", true},
		"a longer one":          {"kinetic: warning: lost, too\n", false},
		"no warning":            {"kinetic: lost\n", false},
		"after a line too long": {strings.Repeat("x", 3*warningBytes) + "\nkinetic: warning: lost\n", true},
		"not the last":          {"kinetic: warning: lost\n" + strings.Repeat("kinetic: warning: more\n", maxWarnings-1), true},
		"long ago":              {"kinetic: warning: lost\n" + strings.Repeat("kinetic: warning: more\n", maxWarnings), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(tt.log) + 1} {
				var passed strings.Builder
				h := NewWarningLog(&passed)
				for rest := tt.log; rest != ""; {
					n := min(size, len(rest))
					if got, err := h.Write([]byte(rest[:n])); got != n || err != nil {
						t.Fatalf("Write() = %d, %v", got, err)
					}
					rest = rest[n:]
				}
				if passed.String() != tt.log {
					t.Errorf("in pieces of %d: %d bytes are passed on, want %d", size, passed.Len(), len(tt.log))
				}
				if got := h.Has("lost"); got != tt.warnings {
					t.Errorf("in pieces of %d: got %v, want %v", size, got, tt.warnings)
				}
			}
		})
	}
	if (*WarningLog)(nil).Has("lost") || (*WarningLog)(nil).MissingModule() != "" {
		t.Error("a nil WarningLog has something")
	}
}

func TestHeardOfAMissingModule(t *testing.T) {
	for log, want := range map[string]string{
		"": "",
		"ModuleNotFoundError: No module named 'numpy'\n":                                                    "numpy",
		"host-1 │ ModuleNotFoundError: No module named 'a.b'; 'a' is not a package\n":                       "a.b",
		"ModuleNotFoundError: No module named 'a'\nModuleNotFoundError: No module named 'b'\nImportError\n": "b",
	} {
		h := NewWarningLog(io.Discard)
		if _, err := h.Write([]byte(log)); err != nil || h.MissingModule() != want {
			t.Errorf("%q: got %q, %v, want %q", log, h.MissingModule(), err, want)
		}
	}
}
