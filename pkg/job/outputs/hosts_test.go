package outputs

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A directory is marked by the rules by which a restore leaves it out: Hosts in runner/tests/test_union.py.
func TestLackingHosts(t *testing.T) {
	tests := map[string]struct {
		hosts []index
		want  map[string]int
	}{
		"one host":        {[]index{{Files: files("ckpt-1/0"), Pending: []anyPath{"ckpt-1"}}}, nil},
		"all have it":     {[]index{{Files: files("ckpt-1/0")}, {Files: files("ckpt-1/1")}}, map[string]int{}},
		"one writes":      {[]index{{Files: files("ckpt-1/0")}, {Pending: []anyPath{"ckpt-1", "alone"}}}, map[string]int{"ckpt-1": 1}},
		"it writes again": {[]index{{Files: files("last/0"), Pending: []anyPath{"last"}}, {}}, map[string]int{}},
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

// A listing has what a restore brings, also while hosts have saved unequally much: test_union.py, too.
func TestAtCommonMoment(t *testing.T) {
	second := func(n int) string { return time.Unix(int64(n), 0).UTC().Format(time.RFC3339Nano) }
	since := func(path anyPath, seconds int) entry { return entry{Path: path, Since: int64(seconds) * 1e9} }
	until := func(e entry, seconds int) past { return past{entry: e, Until: int64(seconds) * 1e9} }
	tests := map[string]struct {
		ahead, behind index
		want          []entry
		later         []string
	}{
		"caught up":       {index{At: second(20), Files: []entry{since("a", 10)}}, index{At: second(15)}, []entry{since("a", 10)}, nil},
		"new":             {index{At: second(20), Files: []entry{since("a", 18)}}, index{At: second(15)}, []entry{since("a", 18)}, []string{"a"}},
		"written again":   {index{At: second(20), Files: []entry{since("a", 18)}, Before: []past{until(since("a", 5), 18)}}, index{At: second(15)}, []entry{since("a", 5)}, nil},
		"removed":         {index{At: second(20), Before: []past{until(since("a", 5), 18)}}, index{At: second(15)}, []entry{since("a", 5)}, nil},
		"removed earlier": {index{At: second(20), Before: []past{until(since("a", 5), 14)}}, index{At: second(15)}, nil, nil},
		"committed":       {index{At: second(20), Files: []entry{since("a", 0)}}, index{At: second(15)}, []entry{since("a", 0)}, nil},
		"behind":          {index{At: second(20), Attempt: 2, Restored: 7e9, Files: []entry{since("a", 12)}, Before: []past{until(since("a", 5), 12)}}, index{At: second(15), Attempt: 1}, []entry{since("a", 5)}, nil},
		"begun":           {index{At: second(20), Attempt: 2, Restored: 7e9, Files: []entry{since("a", 12)}}, index{At: second(15), Attempt: 2}, []entry{since("a", 12)}, nil},
		"ended":           {index{At: second(20), Files: []entry{since("a", 18)}}, index{At: second(15), Ended: true}, []entry{since("a", 18)}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := atCommonMoment([]index{tt.ahead, tt.behind})[0]
			if diff := cmp.Diff(tt.want, got.Files); diff != "" || !slices.Equal(tt.later, got.later) {
				t.Errorf("later %v, want %v; files (-want +got):\n%s", got.later, tt.later, diff)
			}
		})
	}
}

func files(paths ...anyPath) (entries []entry) {
	for _, path := range paths {
		entries = append(entries, entry{Path: path})
	}
	return entries
}
