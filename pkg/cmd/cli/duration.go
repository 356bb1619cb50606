package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// DurationVar defines a flag for a positive duration: 90 (seconds), 90s, 15m, 1h30m or 30d. Zero means that it was not given.
func DurationVar(fs *pflag.FlagSet, p *time.Duration, name, usage string) {
	fs.Var(flagValue[time.Duration]{p, "duration", ParseDuration, time.Duration.String}, name, usage)
}

// AgeVar defines a flag for a positive duration with a unit: what is deleted by age is rarely seconds old. Zero means that it
// was not given.
func AgeVar(fs *pflag.FlagSet, p *time.Duration, name, usage string) {
	fs.Var(flagValue[time.Duration]{p, "duration", parseAge, time.Duration.String}, name, usage)
}

func parseAge(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("expected a unit, such as 30d for days or 12h for hours")
	}
	return ParseDuration(s)
}

// IntervalVar defines a flag for a positive duration, or 0, which is negative in p. Zero in
// p means that it was not given.
func IntervalVar(fs *pflag.FlagSet, p *time.Duration, name, usage string) {
	text := func(d time.Duration) string { return max(d, 0).String() }
	fs.Var(flagValue[time.Duration]{p, "duration", parseInterval, text}, name, usage)
}

func parseInterval(s string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(strings.TrimSuffix(s, "s"), 64); err == nil && n == 0 {
		return -1, nil
	}
	d, err := ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("expected a duration such as 90s or 15m, or 0")
	}
	return d, nil
}

// maxSeconds keeps a bare number within what a time.Duration holds.
const maxSeconds = 1e9

// ParseDuration reads a positive duration; a bare number is in seconds, and a day has 24
// hours.
func ParseDuration(s string) (time.Duration, error) {
	d, err := parseDays(s)
	if n, numberErr := strconv.ParseFloat(s, 64); numberErr == nil && n < maxSeconds {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("expected a positive duration such as 90s, 15m, 1h30m or 30d")
	}
	return d, nil
}

// parseDays is time.ParseDuration with optional whole days in front: 30d, 1d12h.
func parseDays(s string) (time.Duration, error) {
	days, rest, found := strings.Cut(s, "d")
	if !found {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 16) // 16 bits of days fit into a Duration
	if err != nil {
		return 0, err
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && more < 0 {
		err = strconv.ErrSyntax
	}
	return d + more, err
}

// KeepWarmExamples returns values that ReadKeepWarm takes, one for each level, with descriptions for completion.
func KeepWarmExamples() []string {
	return []string{
		"10m\tpackages stay imported",
		"10m," + string(api.WarmProcess) + "\tcalls share a process",
		"10m," + string(api.WarmClean) + "\teach call has a new Python",
		"0\tuse no warm host",
	}
}

// ReadKeepWarm reads how long warm hosts stay, and maybe their level: 10m or 10m,clean. 0 means that there are none. name is where the
// text comes from, such as a flag.
func ReadKeepWarm(w *api.KeepWarm, name, text string) error {
	duration, level, given := strings.Cut(text, ",")
	w.Chosen, w.Idle, w.Level = true, 0, api.WarmPreloaded
	if d, err := parseDays(duration); err != nil || d != 0 {
		if w.Idle, err = ParseDuration(duration); err != nil {
			return fmt.Errorf("%s %q: %w, or one with a level, such as 10m,clean", name, text, err)
		}
	}
	if !given {
		return nil
	}
	w.Level = api.WarmLevel(level)
	return OneOf(name, level, []string{string(api.WarmClean), string(api.WarmPreloaded), string(api.WarmProcess)})
}
