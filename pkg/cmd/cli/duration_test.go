package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestParseDuration(t *testing.T) {
	tests := map[string]struct {
		want time.Duration
		ok   bool
	}{
		"90":       {90 * time.Second, true},
		"0.5":      {500 * time.Millisecond, true},
		"90s":      {90 * time.Second, true},
		"1h30m":    {90 * time.Minute, true},
		"1d":       {24 * time.Hour, true},
		"30d":      {720 * time.Hour, true},
		"1d12h":    {36 * time.Hour, true},
		"0d1s":     {time.Second, true},
		"0":        {},
		"0d":       {},
		"d":        {},
		"-1d":      {},
		"1d-5h":    {},
		"1.5d":     {},
		"1d2":      {},
		"9999999d": {},
		"-5s":      {},
		"-5":       {},
		"":         {},
		"soon":     {},
		"NaN":      {},
		"1e300":    {},
		"1 hour":   {},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := ParseDuration(text)
			if (err == nil) != tt.ok || got != tt.want {
				t.Errorf("ParseDuration(%q) = %v, %v; want %v, ok %v", text, got, err, tt.want, tt.ok)
			}
		})
	}
}

func TestIntervalVar(t *testing.T) {
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "90": 90 * time.Second, "0": -1, "0s": -1} {
		var got time.Duration
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		IntervalVar(fs, &got, "every", "")
		if err := fs.Parse([]string{"--every", text}); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestAgeVar(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "90m": 90 * time.Minute, "30": 0, "0.5": 0, "-1d": 0} {
		var got time.Duration
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		AgeVar(fs, &got, "older-than", "")
		if err := fs.Parse([]string{"--older-than=" + text}); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
}
