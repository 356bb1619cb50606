package human

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// inSentence is the most words that DidYouMean offers.
const inSentence = 3

// Nearest returns at most n of the candidates, the nearest to word first. Distance is the number
// of typing mistakes between the two (an extra, missing or wrong letter, or two swapped),
// ignoring case. A candidate that contains word, or is the beginning of it, is near however
// long the rest is. Candidates that have little in common with word are left out, so the
// list is often shorter than n or empty. The order of the candidates doesn't matter.
func Nearest(word string, candidates []string, n int) []string {
	if word == "" || n <= 0 {
		return nil
	}
	var near []match
	for _, c := range candidates {
		if m, ok := compare(word, c); ok {
			near = append(near, m)
		}
	}
	slices.SortFunc(near, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.excess, b.excess), cmp.Compare(a.word, b.word))
	})
	near = slices.Compact(near)
	var words []string
	for _, m := range near[:min(n, len(near))] {
		words = append(words, m.word)
	}
	return words
}

// DidYouMean returns `did you mean "a", "b" or "c"?` for the nearest candidates, or "" if
// none is near.
func DidYouMean(word string, candidates []string) string {
	return sentence(Nearest(word, candidates, inSentence), strconv.Quote)
}

// DidYouMeanFlag is DidYouMean for the name of a flag, without its dashes: `did you mean
// --hosts?` The last word of several, if both have it, makes no flag near: --batch-size is not --cache-size.
func DidYouMeanFlag(name string, flags []string) string {
	near := slices.DeleteFunc(Nearest(name, flags, inSentence), func(flag string) bool { return onlyEndsAlike(name, flag) })
	return sentence(near, func(flag string) string { return "--" + flag })
}

// onlyEndsAlike reports whether two names have their last word in common, and nothing near to it before.
func onlyEndsAlike(a, b string) bool {
	i, j := strings.LastIndex(a, "-"), strings.LastIndex(b, "-")
	if i <= 0 || j <= 0 || a[i:] != b[j:] {
		return false
	}
	_, near := compare(a[:i], b[:j])
	return !near
}

// sentence asks whether one of some words was meant. written formats each word.
func sentence(words []string, written func(string) string) string {
	if len(words) == 0 {
		return ""
	}
	for i, w := range words {
		words[i] = written(w)
	}
	last := len(words) - 1
	if last == 0 {
		return "did you mean " + words[0] + "?"
	}
	return "did you mean " + strings.Join(words[:last], ", ") + " or " + words[last] + "?"
}

type match struct {
	word   string
	cost   int
	excess int // difference in length, to order candidates of equal cost
}

// The cost of differences: a prefix is better than one mistake, any other part better than
// two.
const (
	costOfPrefix  = 1
	costOfMistake = 2
	costOfPart    = 3
)

// compare returns how near candidate is to word, and whether it is near at all.
func compare(word, candidate string) (match, bool) {
	w, c := strings.ToLower(word), strings.ToLower(candidate)
	a, b := []rune(w), []rune(c)
	longer := max(len(a), len(b))
	m := match{word: candidate, cost: math.MaxInt, excess: longer - min(len(a), len(b))}
	// One mistake for every three letters is allowed. The difference in length alone is
	// that many mistakes, which may save counting the rest.
	if limit := (longer + 1) / 3; m.excess <= limit {
		if d := distance(a, b); d <= limit {
			m.cost = d * costOfMistake
		}
	}
	switch {
	case strings.HasPrefix(c, w):
		m.cost = min(m.cost, costOfPrefix)
	case strings.Contains(c, w), len(b) > 1 && strings.HasPrefix(w, c):
		m.cost = min(m.cost, costOfPart)
	}
	return m, m.cost < math.MaxInt
}

// distance counts the insertions, deletions, substitutions and swaps of adjacent letters
// that turn a into b, without changing a letter twice.
func distance(a, b []rune) int {
	var before, above []int // the rows for a[:i-2] and a[:i-1]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
