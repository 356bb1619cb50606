package price

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Words describes a price for people: "list price, spot, us-central1, 2026". A sum has several bases.
// Empty ones don't count.
func Words(spot bool, bases ...string) string {
	bases = slices.Compact(slices.Sorted(slices.Values(bases)))
	bases = slices.DeleteFunc(bases, func(basis string) bool { return basis == "" })
	words := "list price"
	if len(bases) > 1 {
		words = "list prices"
	}
	if spot {
		words += ", spot"
	}
	if len(bases) > 0 {
		words += ", " + strings.Join(bases, "; ")
	}
	return words
}

// Dollars returns an amount of US dollars for people.
func Dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

// Sum is a sum of list prices. The zero value is one of nothing.
type Sum struct {
	usd            float64
	known, unknown bool // whether there are prices of this kind
}

// Add adds a price in USD, nil for one that is not known.
func (s *Sum) Add(usd *float64) {
	if usd == nil {
		s.unknown = true
		return
	}
	s.usd += *usd
	s.known = true
}

// String returns the sum for people: "$1.50", "at least $1.50", "-" if no price is known.
func (s Sum) String() string {
	switch {
	case s.unknown && !s.known:
		return "-"
	case s.unknown:
		return "at least " + Dollars(s.usd)
	}
	return Dollars(s.usd)
}

// MarshalJSON writes {"usd": 1.5, "atLeast": false}; usd is null if there are prices and none is known, and
// atLeast says that some are not.
func (s Sum) MarshalJSON() ([]byte, error) {
	usd := Round(s.usd)
	all := struct {
		USD     *float64 `json:"usd"`
		AtLeast bool     `json:"atLeast"`
	}{&usd, s.unknown}
	if s.unknown && !s.known {
		all.USD = nil
	}
	return json.Marshal(all)
}
