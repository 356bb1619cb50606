package report

import (
	"errors"
	"testing"
)

// The error of one of several jobs begins with its ID, once.
func TestErrorsNameTheirJobOnce(t *testing.T) {
	for text, want := range map[string]string{
		"the bucket is locked":            "job a1: the bucket is locked",
		"job a1: there is no Job":         "job a1: there is no Job",
		"job a1 was asked to end":         "job a1 was asked to end",
		"job a12: there is another Job":   "job a1: job a12: there is another Job",
		"list: job a1: there is no store": "job a1: list: job a1: there is no store",
	} {
		if got := OfJob("a1", errors.New(text)).Error(); got != want {
			t.Errorf("of %q: got %q, want %q", text, got, want)
		}
	}
	if err := OfJob("a1", nil); err != nil {
		t.Errorf("of none: got %v", err)
	}
}
