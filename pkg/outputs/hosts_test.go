package outputs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A directory is marked by the rules by which a restore leaves it out: Hosts in runner/tests/test_union.py.
func TestLackingHosts(t *testing.T) {
	tests := map[string]struct {
		hosts []index
		want  map[string]int
	}{
		"one host":        {[]index{{Files: files("ckpt-1/0"), Pending: []string{"ckpt-1"}}}, nil},
		"all have it":     {[]index{{Files: files("ckpt-1/0")}, {Files: files("ckpt-1/1")}}, map[string]int{}},
		"one writes":      {[]index{{Files: files("ckpt-1/0")}, {Pending: []string{"ckpt-1", "alone"}}}, map[string]int{"ckpt-1": 1}},
		"it writes again": {[]index{{Files: files("last/0"), Pending: []string{"last"}}, {}}, map[string]int{}},
		"one lacks it":    {[]index{{Files: files("ckpt-1/0")}, {Files: files("ckpt-1/1", "ckpt-2/1")}}, map[string]int{"ckpt-2": 0}},
		"one wrote more":  {[]index{{Files: files("ckpt-1/0"), InOrder: true}, {Files: files("ckpt-1/1", "ckpt-2/1"), InOrder: true}}, map[string]int{}},
		"apart":           {[]index{{Files: files("host-0/log", "runs/1/events")}, {Files: files("host-1/log")}}, map[string]int{}},
		"below":           {[]index{{Files: files("a/ckpt-1/x/0")}, {Files: files("a/ckpt-1/x/1", "a/ckpt-2/x/1")}}, map[string]int{"a/ckpt-2": 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for i := range tt.hosts {
				tt.hosts[i].number = i
			}
			if diff := cmp.Diff(tt.want, lackingHosts(tt.hosts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func files(paths ...string) (entries []entry) {
	for _, path := range paths {
		entries = append(entries, entry{Path: path})
	}
	return entries
}
