package ui

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Age formats how long ago something was, as in kubectl's AGE column. An unknown time is
// <unknown>, and a time in the future, because a clock is behind, counts as now.
func Age(then, now time.Time) string {
	if then.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(max(now.Sub(then), 0))
}

// Took formats how long something took: with tenths of a second below ten seconds, and
// like an age from there on.
func Took(d time.Duration) string {
	d = max(d, 0)
	if d < 9950*time.Millisecond {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return duration.HumanDuration(d.Round(time.Second))
}
