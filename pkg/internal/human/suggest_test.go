package human

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNearest(t *testing.T) {
	commands := []string{"run", "jobs", "pool", "up", "down", "status", "doctor", "build-image"}
	tests := map[string]struct {
		word       string
		candidates []string
		n          int
		want       []string
	}{
		"swapped letters are one mistake":          {"rnu", commands, 3, []string{"run"}},
		"a missing letter":                         {"stats", commands, 3, []string{"status"}},
		"a letter too many":                        {"poool", commands, 3, []string{"pool"}},
		"a wrong letter":                           {"jogs", commands, 3, []string{"jobs"}},
		"case does not matter":                     {"RUN", commands, 3, []string{"run"}},
		"candidates keep their case":               {"running", []string{"RUNNING"}, 3, []string{"RUNNING"}},
		"a beginning, however long the rest":       {"build", commands, 3, []string{"build-image"}},
		"a part, however long the rest":            {"image", commands, 3, []string{"build-image"}},
		"the beginning ranks above the part":       {"a100", []string{"nvidia-tesla-a100", "a100-80gb"}, 3, []string{"a100-80gb", "nvidia-tesla-a100"}},
		"the word itself comes first":              {"v5p", []string{"v5e", "v5p", "v5"}, 3, []string{"v5p", "v5e", "v5"}},
		"the beginning ranks above a mistake":      {"v6", []string{"v4", "v6e"}, 3, []string{"v6e", "v4"}},
		"a part ranks above two mistakes":          {"image", []string{"imaeg1", "build-image"}, 3, []string{"build-image", "imaeg1"}},
		"one letter is no beginning":               {"restart", []string{"r"}, 3, nil},
		"the word is longer":                       {"project-name", []string{"project"}, 3, []string{"project"}},
		"half of the letters is too much":          {"tpu7", []string{"cpu"}, 3, nil},
		"a part of two letters":                    {"4", []string{"l4"}, 3, []string{"l4"}},
		"fewer mistakes come first":                {"status", []string{"statsu", "stat"}, 3, []string{"statsu", "stat"}},
		"same cost: similar length, then alphabet": {"v5", []string{"v5p", "v5litepod", "v5e"}, 3, []string{"v5e", "v5p", "v5litepod"}},
		"at most n":                                {"v5", []string{"v5p", "v5litepod", "v5e"}, 2, []string{"v5e", "v5p"}},
		"each once":                                {"run", []string{"run", "run"}, 3, []string{"run"}},
		"nothing hopeless":                         {"kubernetes", commands, 3, nil},
		"one letter of one is no likeness":         {"x", []string{"y"}, 3, nil},
		"nothing is near to nothing":               {"", commands, 3, nil},
		"none asked for":                           {"run", commands, 0, nil},
		"letters, not bytes":                       {"größe", []string{"große"}, 3, []string{"große"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Nearest(tt.word, tt.candidates, tt.n)); diff != "" {
				t.Errorf("Of(%q) (-want +got):\n%s", tt.word, diff)
			}
			reversed := slices.Clone(tt.candidates)
			slices.Reverse(reversed)
			if diff := cmp.Diff(tt.want, Nearest(tt.word, reversed, tt.n)); diff != "" {
				t.Errorf("Of(%q) depends on the order of candidates (-want +got):\n%s", tt.word, diff)
			}
		})
	}
}

func TestDidYouMean(t *testing.T) {
	candidates := []string{"v5e", "v5p", "v5litepod", "v5x", "l4"}
	tests := map[string]struct{ word, want string }{
		"none":           {"zebra", ""},
		"one":            {"l44", `did you mean "l4"?`},
		"three at most":  {"v5", `did you mean "v5e", "v5p" or "v5x"?`},
		"an exact match": {"V5LITEPOD", `did you mean "v5litepod"?`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := DidYouMean(tt.word, candidates); got != tt.want {
				t.Errorf("Sentence(%q) = %q, want %q", tt.word, got, tt.want)
			}
		})
	}
}

func TestDidYouMeanFlag(t *testing.T) {
	flags := []string{"cache-size", "hosts", "hang-timeout", "max-runtime"}
	for name, want := range map[string]string{
		"hsots": "did you mean --hosts?", "cahce-size": "did you mean --cache-size?", "cache-szie": "did you mean --cache-size?",
		"hnag-timeout": "did you mean --hang-timeout?", "batch-size": "", "host": "did you mean --hosts?",
	} {
		if got := DidYouMeanFlag(name, flags); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want int
	}{
		"equal":                       {"pool", "pool", 0},
		"from nothing":                {"", "abc", 3},
		"to nothing":                  {"abc", "", 3},
		"substitution":                {"kitten", "mitten", 1},
		"swap":                        {"ab", "ba", 1},
		"a swap in the middle":        {"status", "sattus", 1},
		"no letter is touched twice":  {"ca", "abc", 3},
		"mixed":                       {"kitten", "sitting", 3},
		"a swap does not hide others": {"abcd", "badc", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := distance([]rune(tt.a), []rune(tt.b)); got != tt.want {
				t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
			}
		})
	}
}
