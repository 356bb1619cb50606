package stack_test

import (
	"encoding/json"
	"regexp"
	"testing"
)

// Sums of prices have no noise of binary fractions.
func TestMoneyIsRounded(t *testing.T) {
	w := newWorld(t)
	planned := w.up(t, "--dry-run", "-o", "json", "--accelerator", "v6e-8")
	planned.check(t, 0)
	var told struct {
		Price struct {
			PerMonth json.Number
			Items    []struct{ PerMonth json.Number }
		} `json:"listPrice"`
	}
	if err := json.Unmarshal([]byte(planned.out), &told); err != nil || len(told.Price.Items) < 3 {
		t.Fatalf("got %+v, %v", told, err)
	}
	whole := regexp.MustCompile(`^[0-9]+(\.[0-9]{1,4})?$`)
	for _, item := range append(told.Price.Items, struct{ PerMonth json.Number }{told.Price.PerMonth}) {
		if !whole.MatchString(item.PerMonth.String()) {
			t.Errorf("perMonth is %s", item.PerMonth)
		}
	}
}
