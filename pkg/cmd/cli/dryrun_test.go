package cli

import (
	"strings"
	"testing"
)

func TestDryRun(t *testing.T) {
	for typed, want := range map[string]struct {
		on  bool
		err string
	}{
		"":                 {},
		"--dry-run":        {on: true},
		"--dry-run=client": {on: true},
		"--dry-run=none":   {},
		"--dry-run=server": {err: `--dry-run "server": expected one of none, client; Google Cloud can't check a request without carrying it out`},
		"--dry-run=clint":  {err: `--dry-run "clint": expected one of none, client; did you mean "client"?`},
		"--dry-run=true":   {err: `--dry-run "true": expected one of none, client`},
	} {
		s, flag := NewSection("Outcome"), DryRun{}
		flag.Add(s, "Print what would be done.")
		if err := s.Flags.Parse(strings.Fields(typed)); err != nil {
			t.Fatal(err)
		}
		on, err := flag.On()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if on != want.on || got != want.err || err != nil && CodeOf(err) != ExitUsage {
			t.Errorf("%q: got %t, %v", typed, on, err)
		}
	}
}
