package status

import "testing"

func TestCountOfIndexes(t *testing.T) {
	for list, want := range map[string]int{"1": 1, "1,3-5,7": 5, "0-9999": 10000, "": 0, "a-b,3-1,5-": 0} {
		if got := countIndexes(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}
