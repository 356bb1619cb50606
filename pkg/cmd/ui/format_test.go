package ui

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	now := newClock().at
	tests := map[string]struct {
		then time.Time
		want string
	}{
		"not known":         {time.Time{}, "<unknown>"},
		"now":               {now, "0s"},
		"seconds":           {now.Add(-90 * time.Second), "90s"},
		"minutes":           {now.Add(-5*time.Minute - 3*time.Second), "5m3s"},
		"days":              {now.Add(-50 * time.Hour), "2d2h"},
		"clocks disagree":   {now.Add(time.Second), "0s"},
		"far in the future": {now.Add(time.Hour), "0s"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Age(tt.then, now); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTook(t *testing.T) {
	tests := map[time.Duration]string{
		-time.Second: "0.0s", 0: "0.0s", 240 * time.Millisecond: "0.2s", 9949 * time.Millisecond: "9.9s",
		9950 * time.Millisecond: "10s", 10 * time.Second: "10s", 75*time.Second + 600*time.Millisecond: "76s",
		10 * time.Minute: "10m", 25 * time.Hour: "25h",
	}
	for d, want := range tests {
		if got := Took(d); got != want {
			t.Errorf("Took(%v) = %q, want %q", d, got, want)
		}
	}
}
