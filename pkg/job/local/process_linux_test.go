package local

import "testing"

func TestParseStat(t *testing.T) {
	const rest = " 1 71 71 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 1 0 5150 3000 400"
	tests := map[string]struct {
		stat    string
		start   string
		running bool
		fails   bool
	}{
		"running":            {"71 (cat) R" + rest, "5150", true, false},
		"sleeping":           {"71 (cat) S" + rest, "5150", true, false},
		"stopped":            {"71 (cat) T" + rest, "5150", true, false},
		"a zombie":           {"71 (cat) Z" + rest, "5150", false, false},
		"dead":               {"71 (cat) X" + rest, "5150", false, false},
		"a misleading name":  {"71 (a) Z 1 (b) R" + rest, "5150", true, false},
		"a name of 2 lines":  {"71 (a\n) Z) R" + rest, "5150", true, false},
		"nothing":            {"", "", false, true},
		"no name":            {"71", "", false, true},
		"too few fields":     {"71 (cat) R 1 71 71", "", false, true},
		"nothing but a name": {"71 (cat)", "", false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			start, running, err := parseStat([]byte(tt.stat))
			if start != tt.start || running != tt.running || (err != nil) != tt.fails {
				t.Errorf("got %q, %v, %v", start, running, err)
			}
		})
	}
}

// FuzzParseStat checks that no name of a process confuses parseStat.
func FuzzParseStat(f *testing.F) {
	f.Add("cat")
	f.Add("a) Z 1 (b")
	f.Fuzz(func(t *testing.T, name string) {
		stat := "71 (" + name + ") S 1 71 71 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 1 0 5150 3000 400"
		if start, running, err := parseStat([]byte(stat)); start != "5150" || !running || err != nil {
			t.Errorf("a process named %q: %q, %v, %v", name, start, running, err)
		}
	})
}
