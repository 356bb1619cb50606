package script

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// events FILE REGEXP…: checks that each line of a file is an event, that the only error is in the
// last line, and that some events match the regular expressions, in this order.
func events(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: events FILE REGEXP…")
	}
	wanted := args[1:]
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	for i, line := range lines[:len(lines)-1] {
		var e struct {
			Event string
			Time  time.Time
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Time.IsZero() || !strings.HasPrefix(line, `{"event":"`+e.Event+`","time":"`) {
			ts.Fatalf("line %d is no event (%v): %s", i+1, err, line)
		}
		if e.Event == "error" && i != len(lines)-2 {
			ts.Fatalf("an error is not the last event: %s", line)
		}
		if len(wanted) > 0 && regexp.MustCompile(wanted[0]).MatchString(strings.TrimSuffix(line, "\n")) {
			wanted = wanted[1:]
		}
	}
	if last := lines[len(lines)-1]; last != "" {
		ts.Fatalf("the last line has no end: %s", last)
	}
	if len(wanted) > 0 {
		ts.Fatalf("no event matches %s", wanted[0])
	}
}
