package event

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// decoded returns the event of a line, which must have no other members.
func decoded(t *testing.T, line string) (e Event, at time.Time) {
	t.Helper()
	var head struct {
		Event string
		Time  time.Time
	}
	if err := json.Unmarshal([]byte(line), &head); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	read := func(into any) {
		if err := json.Unmarshal([]byte(line), into); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	switch head.Event {
	case "phase":
		var e Phase
		read(&e)
		return e, head.Time
	case "progress":
		var e Progress
		read(&e)
		return e, head.Time
	case "submitted":
		var e Submitted
		read(&e)
		return e, head.Time
	case "state":
		var e State
		read(&e)
		return e, head.Time
	case "log":
		var e Log
		read(&e)
		return e, head.Time
	case "note":
		var e Note
		read(&e)
		return e, head.Time
	case "warning":
		var e Warning
		read(&e)
		return e, head.Time
	case "result":
		var e Result
		read(&e)
		return e, head.Time
	case "error":
		var e Error
		read(&e)
		return e, head.Time
	}
	t.Fatalf("no such event: %s", line)
	return nil, head.Time
}

// TestAutomationPage holds that docs/automation.md has each event as it is written, and each kind of error.
func TestAutomationPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/automation.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, `{"event":`) {
			continue
		}
		e, at := decoded(t, line)
		shown = append(shown, e.event())
		var out bytes.Buffer
		_ = NewWriter(&out, func() time.Time { return at }).Send(e)
		if out.String() != line {
			t.Errorf("the page has\n%swhat is written is\n%s", line, &out)
		}
	}
	for _, e := range []Event{Phase{}, Progress{}, Submitted{}, State{}, Log{}, Note{}, Warning{}, Result{}, Error{}} {
		if !slices.Contains(shown, e.event()) {
			t.Errorf("the page has no example of %s", e.event())
		}
	}
	var kinds []api.ErrorKind
	events, _, _ := strings.Cut(string(page), "\n## Standard output\n")
	for line := range strings.Lines(events) {
		if cell, is := strings.CutPrefix(line, "| `"); is {
			if name, _, _ := strings.Cut(cell, "`"); slices.Contains(api.ErrorKinds(), api.ErrorKind(name)) {
				kinds = append(kinds, api.ErrorKind(name))
			}
		}
	}
	if !slices.Equal(kinds, api.ErrorKinds()) {
		t.Errorf("the page has the kinds %q, want %q", kinds, api.ErrorKinds())
	}
}
