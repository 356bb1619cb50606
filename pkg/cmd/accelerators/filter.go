package accelerators

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// filter is what the arguments ask for: one word of each group must hold.
type filter struct {
	groups [][]word
	spot   bool // prices mean spot capacity
}

type word struct {
	typed  string
	allows func(offer) bool
	limit  *limit // nil if it is none
}

// limit is a comparison such as >=4.
type limit struct {
	compare string
	number  float64
	of      func(offer) (float64, bool)
	// text says a value for people.
	text func(float64) string
}

const spotWord = "spot"

// perHour is the unit of prices.
const perHour = "/h"

// limitPattern reads >=4, 4+, >=80GB, <=2.50/h, <=$2 and 1host.
const limitPattern = `^(>=|<=|=|>|<)?(\$?)([0-9]+(?:\.[0-9]+)?)(|chips?|gpus?|gb|hosts?|/h)(\+)?$`

// newFilter reads the arguments. Kinds, names and shapes are alternatives to their like; all else must hold.
func newFilter(words []string) (filter, error) {
	var kinds, accelerators, shapes []word
	var f filter
	names := aliases()
	for _, typed := range words {
		text := strings.ToLower(strings.TrimSpace(typed))
		name, isName := names[text]
		l, isLimit := newLimit(text)
		a, err := accelerator.Parse(text, accelerator.Options{})
		switch {
		case text == string(api.GPU) || text == string(api.TPU):
			kinds = append(kinds, word{typed: typed, allows: func(o offer) bool { return string(o.Kind) == text }})
		case text == spotWord:
			f.spot = true
		case isName:
			accelerators = append(accelerators, word{typed: typed, allows: func(o offer) bool { return o.Name == name }})
		case isLimit: // also a number alone, which Parse would take for a shape
			f.groups = append(f.groups, []word{{typed, l.allows, &l}})
		case err == nil && a.Kind != api.CPU:
			f.spot = f.spot || a.Spot
			a.Spot = false
			shape := accelerator.Text(a) // not of --backend: both fit
			shapes = append(shapes, word{typed: typed, allows: func(o offer) bool { return accelerator.Text(o.Accelerator) == shape }})
		case namesShape(text, names):
			return filter{}, fmt.Errorf("filter %q: %w", typed, errors.Unwrap(err))
		default:
			return filter{}, unknown(typed, text, names)
		}
	}
	for _, group := range [][]word{kinds, accelerators, shapes} {
		if group != nil {
			f.groups = append(f.groups, group)
		}
	}
	if f.spot {
		f.groups = append(f.groups, []word{{typed: spotWord, allows: func(o offer) bool { return o.spot != nil }}})
	}
	return f, nil
}

// namesShape reports whether a word has the form of a shape of a known name, such as v6e-9 and l4x3.
func namesShape(text string, names map[string]string) bool {
	at := strings.LastIndexAny(text, "-:")
	if at < 0 || names[text[:at]] == "" {
		at = strings.LastIndex(text, "x")
	}
	return at > 0 && names[text[:at]] != "" && at+1 < len(text) && unicode.IsDigit(rune(text[at+1]))
}

// aliases maps what users may call an accelerator to its name.
func aliases() map[string]string {
	names := map[string]string{}
	for _, o := range accelerator.Offers() {
		names[o.Name] = o.Name
		for _, alias := range o.Aliases {
			names[alias] = o.Name
		}
	}
	return names
}

func newLimit(word string) (limit, bool) {
	parts := lazyregexp.Of(limitPattern).FindStringSubmatch(word)
	if parts == nil {
		return limit{}, false
	}
	compare, dollar, unit, plus := parts[1], parts[2] != "", parts[4], parts[5] != ""
	number, err := strconv.ParseFloat(parts[3], 64)
	if err != nil || compare != "" && plus || dollar && unit != "" && unit != perHour {
		return limit{}, false
	}
	if dollar {
		unit = perHour
	}
	l := limit{compare: compare, number: number}
	if plus {
		l.compare = ">="
	}
	switch unit {
	case "gb":
		l.of = func(o offer) (float64, bool) { return float64(o.ChipGB), true }
		l.text = func(n float64) string { return fmt.Sprintf("%g GB a chip", n) }
	case "host", "hosts":
		l.of = func(o offer) (float64, bool) { return float64(o.Hosts), true }
		l.text = func(n float64) string { return human.Count(int(n), "host") }
	case perHour:
		l.of = offer.wanted
		l.text = func(n float64) string { return dollars(&n) + " an hour" }
	default:
		l.of = func(o offer) (float64, bool) { return float64(o.Chips), true }
		l.text = func(n float64) string { return human.Count(int(n), "chip") }
	}
	return l, true
}

func (l limit) allows(o offer) bool {
	value, known := l.of(o)
	if !known {
		return false
	}
	switch l.compare {
	case ">=":
		return value >= l.number
	case "<=":
		return value <= l.number
	case ">":
		return value > l.number
	case "<":
		return value < l.number
	}
	return value == l.number
}

// unknown returns the error for a word that is no filter.
func unknown(typed, word string, names map[string]string) error {
	known := slices.AppendSeq([]string{string(api.GPU), string(api.TPU), spotWord}, maps.Keys(names))
	if meant := human.DidYouMean(word, known); meant != "" {
		return fmt.Errorf("filter %q: %s", typed, meant)
	}
	return fmt.Errorf("filter %q: expected gpu, tpu, spot, a name such as v6e or l4, a shape such as v6e-8, "+
		"or a limit such as '>=4' (chips), '>=80GB' (memory of a chip), 1host or '<=$2' (price of an hour)", typed)
}
