//go:build unix

package main

import "testing"

func TestTallyTellsWhatHappenedToLines(t *testing.T) {
	for name, test := range map[string]struct {
		printed []string
		want    damage
	}{
		"all there":                {[]string{"0\n1\n2\n3\n"}, damage{}},
		"nothing":                  {nil, damage{lost: 4}},
		"lost":                     {[]string{"0\n3\n"}, damage{lost: 2}},
		"doubled":                  {[]string{"0\n1\n1\n1\n2\n3\n"}, damage{doubled: 2}},
		"out of order":             {[]string{"0\n2\n1\n3\n"}, damage{late: 1}},
		"in pieces":                {[]string{"0 a li", "ne\n", "1\n2", "\n3 end\n"}, damage{}},
		"other lines don't count":  {[]string{"hello\n0\n1\n\n2\n-1\n4\n3\n"}, damage{}},
		"a line without its end":   {[]string{"0\n1\n2\n3"}, damage{lost: 1}},
		"again from the beginning": {[]string{"0\n1\n0\n1\n2\n3\n"}, damage{doubled: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			tally := newTally(4)
			for _, p := range test.printed {
				if n, err := tally.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatalf("Write(%q) = %d, %v", p, n, err)
				}
			}
			if got := tally.damage(); got != test.want {
				t.Errorf("lost, doubled, late: %v, want %v", got, test.want)
			}
		})
	}
}
