package lazyregexp

import (
	"sync"
	"testing"
)

func TestOfCompilesOnce(t *testing.T) {
	const digits = `^[0-9]+$`
	first := Of(digits)
	if !first.MatchString("12") || first.MatchString("1x") {
		t.Errorf("%v does not match what its text says", first)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if Of(digits) != first {
				t.Error("compiled again")
			}
			if !Of(``).MatchString("") {
				t.Error("the empty expression matches everything")
			}
		})
	}
	all.Wait()
}
