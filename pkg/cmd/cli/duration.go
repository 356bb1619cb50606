package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// durationValue is a flag that takes 90 (seconds), 90s, 15m or 1h30m.
type durationValue time.Duration

// DurationVar defines a flag of more than no time. Its zero value means that
// it was not given.
func DurationVar(fs *pflag.FlagSet, p *time.Duration, name, usage string) {
	fs.Var((*durationValue)(p), name, usage)
}

// Set implements pflag.Value.
func (d *durationValue) Set(s string) error {
	v, err := ParseDuration(s)
	*d = durationValue(v)
	return err
}

// String implements pflag.Value.
func (d *durationValue) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (d *durationValue) Type() string { return "duration" }

// maxSeconds keeps a bare number within what a time.Duration holds.
const maxSeconds = 1e9

// ParseDuration reads a time span of more than nothing; a bare number is seconds.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if n, numberErr := strconv.ParseFloat(s, 64); numberErr == nil && n < maxSeconds {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("want a time such as 90, 90s, 15m or 1h30m, more than nothing")
	}
	return d, nil
}
