package diagnose

import (
	"iter"
	"strconv"
	"strings"
)

// Count counts the indexes in a list.
func Count(list string) int {
	n := 0
	for from, to := range ranges(list) {
		n += to - from + 1
	}
	return n
}

// Has reports whether an index is in a list.
func Has(list string, index int) bool {
	for from, to := range ranges(list) {
		if from <= index && index <= to {
			return true
		}
	}
	return false
}

// ranges yields the first and the last index of each part of a list.
func ranges(list string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for part := range strings.SplitSeq(list, ",") {
			first, last, isRange := strings.Cut(part, "-")
			if !isRange {
				last = first
			}
			from, err1 := strconv.Atoi(first)
			to, err2 := strconv.Atoi(last)
			if err1 == nil && err2 == nil && to >= from && !yield(from, to) {
				return
			}
		}
	}
}
