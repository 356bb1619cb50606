package cli

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	tests := map[string]struct {
		want time.Duration
		ok   bool
	}{
		"90":     {90 * time.Second, true},
		"0.5":    {500 * time.Millisecond, true},
		"90s":    {90 * time.Second, true},
		"1h30m":  {90 * time.Minute, true},
		"0":      {},
		"-5s":    {},
		"-5":     {},
		"":       {},
		"soon":   {},
		"NaN":    {},
		"1e300":  {},
		"1 hour": {},
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
