package ui

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// clock is a time that moves when the test says so.
type clock struct{ at time.Time }

func newClock() *clock                       { return &clock{time.Date(2026, 4, 17, 15, 30, 12, 0, time.UTC)} }
func (c *clock) now() time.Time              { return c.at }
func (c *clock) pass(d time.Duration) *clock { c.at = c.at.Add(d); return c }

// checkGolden compares with a file in which escape characters can be read.
func checkGolden(t *testing.T, got []byte) {
	t.Helper()
	text := strings.NewReplacer("\x1b", "␛", "\r", "␍").Replace(string(got))
	golden.Check(t, filepath.Join("testdata", strings.ReplaceAll(t.Name(), "/", "_")+".golden"), text)
}

// session is a submit with everything people see of one.
func session(u *UI, c *clock) {
	c.pass(240 * time.Millisecond)
	u.Phase("packaged", "12 files, 34 KiB, 0 B new")
	bar := u.Progress("uploading", 4<<20)
	c.pass(time.Second)
	bar.Add(1 << 20)
	u.Warn("data.csv is 12 GiB: --data mounts it instead of copying it")
	c.pass(time.Second)
	bar.Add(3 << 20)
	bar.Done()
	u.Phase("uploaded", "4.0 MiB")
	u.Note("reattach with: kubectl kinetic jobs logs cpu-train-1 -f")
	c.pass(75 * time.Second)
	u.Phase("scheduled", "on node\x1b[2J-1")
	for _, s := range api.States() {
		u.State("cpu-train-1", api.Status{State: s}, "cpu-train-1")
	}
}

func TestSession(t *testing.T) {
	for name, style := range map[string]Style{
		"plain":         {},
		"terminal":      {Redraw: true, Color: true, Columns: 100},
		"without color": {Redraw: true, Columns: 100},
		"narrow":        {Redraw: true, Columns: 30},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := newClock()
			session(NewStyled(&out, c.now, style), c)
			checkGolden(t, out.Bytes())
		})
	}
}

func TestPhaseMeasuresFromThePhaseBefore(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	u := New(&out, c.now)
	c.pass(time.Second)
	u.Phase("a", "x")
	u.Note("a note is no phase")
	c.pass(3 * time.Second)
	u.Phase("b", "y")
	want := "a           x (1.0s)\na note is no phase\nb           y (3.0s)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConcurrentUse(t *testing.T) {
	var out bytes.Buffer
	u := NewStyled(&out, newClock().now, Style{Redraw: true, Columns: 80})
	bar := u.Progress("uploading", 800)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				bar.Add(1)
				u.Note(fmt.Sprintf("note %d", i))
			}
		})
	}
	wg.Wait()
	bar.Done()
	if got := strings.Count(out.String(), "note "); got != 800 {
		t.Errorf("%d notes were written, want 800", got)
	}
	if bar.done != 800 {
		t.Errorf("%d bytes were counted, want 800", bar.done)
	}
}

func TestSurvivesAWriterThatFails(*testing.T) {
	c := newClock()
	u := NewStyled(failing{}, c.now, Style{Redraw: true, Columns: 80})
	session(u, c)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }
