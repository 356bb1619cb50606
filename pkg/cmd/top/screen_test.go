package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// team is a screen with something of everything.
func team() *Model {
	m := New(Model{Title: "Jobs in namespace ml", Empty: "no jobs in namespace ml"})
	train := running("v6e16-train-20260417-110000-abc1234", 60, 4)
	train.Accelerator, train.Hosts, train.MaxCost = "v6e-16", 4, 50
	waits := pending("l4-tune-20260417-115000-def5678", 10, "no node has room for nvidia.com/gpu")
	waits.Accelerator = "l4"
	failed := running("cpu-data-1", 90, 1)
	failed.State, failed.Status = api.Failed, api.Status{State: api.Failed, Reason: api.Exception, Message: "ValueError: no such\ncolumn", Started: noon.Add(-time.Hour), Finished: noon}
	talks := running("cpu-talk", 5, 1)
	m.Put([]api.JobSummary{train, waits, failed, talks}, noon)
	for n := range 4 {
		cpu, memory, duty := 3.25, int64(12)<<30, 91.5
		m.SetUse(Place{KeyOf(train), n}, api.Use{CPU: &cpu, Memory: &memory, Duty: &duty})
		m.SetLine(Place{KeyOf(train), n}, fmt.Sprintf("\x1b[32mstep %d\x1b[0m  loss 0.125, lr 1e-4, 18 steps/s, and more than fits", n))
	}
	m.SetLine(Place{KeyOf(talks), WholeJob}, "日本語の長い行はセルの幅で切る、文字の数ではない")
	m.Move(3, noon)
	m.Move(-1, noon)
	m.Toggle(noon)
	return m
}

func TestScreens(t *testing.T) {
	t.Setenv("TZ", "UTC")
	time.Local = time.UTC
	for _, width := range []int{80, 140} {
		s := team().Screen(width, 14, noon)
		var text strings.Builder
		for _, l := range s.Lines {
			if n := uniseg.StringWidth(l.Text()); n > width {
				t.Errorf("%d cells in a screen of %d: %s", n, width, l.Text())
			}
			mark := " "
			if l.Selected {
				mark = ">"
			}
			text.WriteString(strings.TrimRight(mark+l.Text(), " ") + "\n")
		}
		if len(s.Lines) != 14 {
			t.Errorf("%d lines", len(s.Lines))
		}
		golden.Check(t, fmt.Sprintf("testdata/%d.txt", width), text.String())
	}
}

// No size makes a line that is wider than the screen, or more lines than it has.
func TestEverySizeFits(t *testing.T) {
	for width := 0; width < 200; width += 7 {
		for height := range 20 {
			m := team()
			m.Notice, m.Question = strings.Repeat("notice ", 40), strings.Repeat("question ", 40)
			s := m.Screen(width, height, noon)
			if len(s.Lines) > height || len(s.Rows) > height {
				t.Fatalf("%d×%d: %d lines, %d rows", width, height, len(s.Lines), len(s.Rows))
			}
			for _, l := range s.Lines {
				n := 0
				for _, p := range l.Parts {
					n += uniseg.StringWidth(p.Text)
				}
				if n > width {
					t.Fatalf("%d×%d: %d cells: %q", width, height, n, l.Text())
				}
			}
		}
	}
}

func TestSecondLine(t *testing.T) {
	for name, tt := range map[string]struct {
		width  int
		notice string
		want   string
	}{
		"what has no room":  {80, "", "v6e16-train-20260417-110000-abc1234, max cost $50.00, phase run, duty 92%"},
		"all has room":      {200, "", ""},
		"there is a notice": {80, "no\nrights", "no rights"},
	} {
		m := team()
		m.Notice = tt.notice
		if got := m.Screen(tt.width, 20, noon).Lines[1].Text(); got != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestCells(t *testing.T) {
	n := func(x float64) *float64 { return &x }
	b := func(x int64) *int64 { return &x }
	for _, cell := range []struct{ got, want string }{
		{cores(n(0.004)), "0.00"},
		{cores(n(9.99)), "9.99"},
		{cores(n(127.6)), "128"},
		{size(b(17)), "17"},
		{size(b(1023 << 20)), "1023Mi"},
		{size(b(20 << 30)), "20.0Gi"},
		{size(b(2 << 40)), "2.0Ti"},
		{size(b(300 << 30)), "300Gi"},
		{percent(n(99.6)), "100%"},
		{percent(nil), ""},
		{shorten("v6e16-train-20260417-110000-abc1234", 20), "v6e16-train-…abc1234"},
		{shorten("mine", 20), "mine"},
		{shorten("a-name-without-a-number-in-it", 10), "a-name-without-a-number-in-it"},
		{cut("日本語", 5), "日本…"},
		{cut("日本語", 4), "日…"},
		{cut("abc", 3), "abc"},
		{cut("abc", 0), ""},
		{OneLine("\x1b[1;31mred\x1b[0m\tand\x07"), `red and\a`},
	} {
		if cell.got != cell.want {
			t.Errorf("got %q, want %q", cell.got, cell.want)
		}
	}
}
