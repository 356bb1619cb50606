package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func clock() time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 60000, time.FixedZone("east", 3600))
}

const stamp = `"time":"2026-01-02T02:04:05.000060Z"`

func TestEvents(t *testing.T) {
	zero, two := 0, 2
	for name, tt := range map[string]struct {
		event Event
		want  string
	}{
		"phase":     {Phase{Name: "packaged", Detail: "12 files", Seconds: 0.2}, `"name":"packaged","detail":"12 files","seconds":0.2}`},
		"progress":  {Progress{Name: "storing", Done: 123, Total: 456}, `"name":"storing","done":123,"total":456}`},
		"state":     {State{Job: "a", State: api.Pending, Message: "waiting: <x>"}, `"job":"a","state":"PENDING","reason":"","message":"waiting: <x>"}`},
		"log":       {Log{Job: "a", Stream: "stdout", Host: &zero, Attempt: 1, Line: "a\xffb"}, `"job":"a","stream":"stdout","host":0,"attempt":1,"line":"a\ufffdb"}`},
		"note":      {Note{Message: "a\nb"}, `"message":"a\nb"}`},
		"warning":   {Warning{Message: "w"}, `"message":"w"}`},
		"error":     {Error{Code: 2, Kind: api.KindUsage, Message: "m"}, `"code":2,"kind":"usage","message":"m","next":null}`},
		"result":    {Result{Job: "a", State: api.Succeeded, Reason: api.Completed, OK: true, Attempt: 1, Warnings: []string{}}, `"job":"a","state":"SUCCEEDED","reason":"Completed","ok":true,"error":null,"host":0,"attempt":1,"warnings":[],"pickle":null}`},
		"log chunk": {Log{Job: "a", Stream: "stderr", Chunk: &two, Attempt: 3}, `"job":"a","stream":"stderr","chunk":2,"attempt":3,"line":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := NewWriter(&out, clock).Send(tt.event); err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(name, " ")
			want := `{"event":"` + kind + `",` + stamp + `,` + tt.want + "\n"
			if got := out.String(); got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

// A line of a log has the time at which it was printed.
func TestTimeOfALine(t *testing.T) {
	var out bytes.Buffer
	_ = NewWriter(&out, clock).Send(Log{Time: clock().Add(-time.Hour)})
	if !strings.Contains(out.String(), `"time":"2026-01-02T01:04:05.000060Z"`) {
		t.Error(out.String())
	}
}

// messages are the events and their messages.
func messages(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(text) {
		var e struct{ Event, Message string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, e.Event+" "+e.Message)
	}
	return strings.Join(all, "; ")
}

func TestText(t *testing.T) {
	for name, tt := range map[string]struct {
		pieces []string
		want   string
	}{
		"lines":                  {[]string{"a\nb\n"}, "note a; note b"},
		"pieces of a line":       {[]string{"a", "b", "\nc"}, "note ab; note c"},
		"warnings":               {[]string{"warning: a\n"}, "warning a"},
		"one of several errors":  {[]string{"error: a\n"}, "warning a"},
		"empty lines":            {[]string{"\n\na\n \n"}, "note a"},
		"a redrawn line":         {[]string{"10%\r20%\r\n"}, "note 20%"},
		"indented":               {[]string{"  a\n"}, "note   a"},
		"a line without an end":  {[]string{strings.Repeat("x", longest), "y", "z"}, "note " + strings.Repeat("x", longest) + "y; note z"},
		"bytes that aren't text": {[]string{"\xff\n"}, "note \ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w := NewWriter(&out, clock)
			for _, piece := range tt.pieces {
				if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			w.End()
			if got := messages(t, out.String()); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestNothingFollowsTheEnd(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, clock)
	_, _ = w.Write([]byte("unfinished"))
	w.End(Error{Message: "end"})
	_, _ = w.Write([]byte("late\n"))
	if err := w.Send(Note{Message: "later"}); err == nil {
		t.Error("an event after the last one is no error")
	}
	if got := messages(t, out.String()); got != "note unfinished; error end" {
		t.Errorf("got %s", got)
	}
}

// broken is the pipe of a reader that went away.
type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errors.New("broken pipe") }

func TestALostReader(t *testing.T) {
	var b broken
	w := NewWriter(&b, clock)
	if err := w.Send(Note{}); err == nil {
		t.Error("the first write gave no error")
	}
	if err := w.Send(Note{}); err == nil || b.writes != 1 {
		t.Errorf("got %v after %d writes", err, b.writes)
	}
	if _, err := w.Write([]byte("text\n")); err != nil || b.writes != 1 {
		t.Errorf("text: got %v after %d writes", err, b.writes)
	}
}

func TestLinesStayWhole(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, clock)
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			for range 100 {
				_ = w.Send(Note{Message: "n"})
				_, _ = w.Write([]byte("n\n"))
			}
		})
	}
	g.Wait()
	if got, want := messages(t, out.String()), strings.TrimSuffix(strings.Repeat("note n; ", 1600), "; "); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestOf(t *testing.T) {
	w := NewWriter(&bytes.Buffer{}, clock)
	if Of(w) != w || Of(&bytes.Buffer{}) != nil {
		t.Error("Of")
	}
}
