package accelerator

import (
	"slices"
	"strconv"
	"strings"
)

// cube is the number of chips in the 4x4x4 blocks that make up large boxes.
const cube = 4 * 4 * 4

// tooMany replaces all larger numbers. No slice has that many chips, and the product of two
// does not overflow.
const tooMany = 30_000

// topology is the extent of a slice in each dimension, in chips. A GPU machine
// has one dimension: its count.
type topology []int

// String spells the topology as GKE's labels do: "2x4".
func (t topology) String() string {
	parts := make([]string, len(t))
	for i, n := range t {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, "x")
}

// chips returns the product of the extents, at most tooMany.
func (t topology) chips() int {
	n := 1
	for _, d := range t {
		n = min(n*d, tooMany)
	}
	return n
}

// isLargeBox reports whether t is one of the boxes above a single cube, which Google
// doesn't list one by one: ascending multiples of 4, at most the given number of cubes.
// Boxes up to one cube are all listed.
func (t topology) isLargeBox(cubes int) bool {
	return len(t) == 3 && slices.IsSorted(t) && t.chips() <= cubes*cube &&
		!slices.ContainsFunc(t, func(d int) bool { return d == 0 || d%4 != 0 })
}

// largeBox returns the most compact box of n chips, nil unless n is a multiple of cube and
// at most that many cubes.
func largeBox(n, cubes int) topology {
	if n == 0 || n%cube != 0 || n/cube > cubes {
		return nil
	}
	var best topology
	n /= cube
	for a := 1; a*a*a <= n; a++ {
		for b := a; a*b*b <= n; b++ {
			if n%(a*b) != 0 {
				continue
			}
			if c := n / (a * b); best == nil || 4*c < best[2] {
				best = topology{4 * a, 4 * b, 4 * c}
			}
		}
	}
	return best
}

// parseTopology reads numbers with an x between them: "2x4", "2x2x1". It does not check
// whether a slice has that shape.
func parseTopology(text string) (topology, bool) {
	var t topology
	for part := range strings.SplitSeq(text, "x") {
		n, ok := number(part)
		if !ok {
			return nil, false
		}
		t = append(t, n)
	}
	return t, true
}

// number reads ASCII digits; leading zeros are allowed, and larger numbers become tooMany.
func number(text string) (int, bool) {
	n := 0
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = min(10*n+int(r-'0'), tooMany)
	}
	return n, text != ""
}
