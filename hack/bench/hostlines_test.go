//go:build unix

package main

import (
	"os/exec"
	"testing"
)

func TestHostLinesTellWhatHappenedToTheLinesOfEachHost(t *testing.T) {
	for name, test := range map[string]struct {
		printed []string
		full    bool
		want    damage
	}{
		"all there":             {[]string{"a │ 0 x\nb │ 0 x\nb │ 1 x\na │ 1 x\n"}, true, damage{}},
		"as stern prints them":  {[]string{"a worker 0 x\na worker 1 x\nb worker 0 x\nb worker 1 x\n"}, true, damage{}},
		"as kubectl does":       {[]string{"[pod/a/worker] 0 x\n[pod/a/worker] 1 x\n[pod/b/worker] 0\n[pod/b/worker] 1\n"}, true, damage{}},
		"in pieces":             {[]string{"a │ 0 x\na ", "│ 1", " x\nb │ 0\nb │ 1\n"}, true, damage{}},
		"a host that is silent": {[]string{"a │ 0 x\na │ 1 x\n"}, false, damage{lost: 2}},
		"one that is cut":       {[]string{"a │ 0 x\nb │ 0 x\na │ 1 x\n"}, false, damage{lost: 1}},
		"out of order":          {[]string{"a │ 1 x\nb │ 0 x\nb │ 1 x\na │ 0 x\n"}, true, damage{late: 1}},
		"twice":                 {[]string{"a │ 0 x\na │ 1 x\na │ 1 x\nb │ 0 x\nb │ 1 x\n"}, true, damage{doubled: 1}},
		"other lines":           {[]string{"hello\na │ hello there 0\na │ 0\na │ 1\nb │ 0\nb │ 1\n"}, true, damage{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHostLines(2, 2)
			for _, p := range test.printed {
				if n, err := c.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatalf("Write(%q) = %d, %v", p, n, err)
				}
			}
			full := false
			select {
			case <-c.full:
				full = true
			default:
			}
			if got := c.damage(); got != test.want || full != test.full {
				t.Errorf("lost, doubled, late: %v, complete: %v; want %v, %v", got, full, test.want, test.full)
			}
		})
	}
}

func TestListenEndsAFollowerThatDoesNotEnd(t *testing.T) {
	c := newHostLines(1, 2)
	cost := c.listen(t.Context(), exec.CommandContext(t.Context(), "sh", "-c", "echo a x 0; echo a x 1; exec sleep 1000"))
	if d := c.damage(); d != (damage{}) || cost.wall <= 0 || cost.rss == 0 {
		t.Errorf("%v, %+v", d, cost)
	}
}
