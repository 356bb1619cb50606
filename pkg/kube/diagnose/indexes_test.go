package diagnose

import "testing"

func TestCount(t *testing.T) {
	for list, want := range map[string]int{"1": 1, "1,3-5,7": 5, "0-9999": 10000, "": 0, "a-b,3-1,5-": 0} {
		if got := Count(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}

func TestHas(t *testing.T) {
	for index, want := range map[int]bool{0: false, 1: true, 2: false, 3: true, 4: true, 5: true, 6: false} {
		if got := Has("1,3-5", index); got != want {
			t.Errorf("%d: %v, want %v", index, got, want)
		}
	}
}
