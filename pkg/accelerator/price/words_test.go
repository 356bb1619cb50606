package price

import (
	"encoding/json"
	"testing"
)

func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"list price, us-central1, 2026":                        Words(false, "us-central1, 2026"),
		"list price, spot, us-central1, 2026":                  Words(true, "us-central1, 2026", ""),
		"list prices, us-central1, 2026; us-central1, 2026-08": Words(false, "us-central1, 2026-08", "us-central1, 2026", "us-central1, 2026"),
		"list price": Words(false),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSum(t *testing.T) {
	one, two := 1.25, 0.5
	for want, prices := range map[string][]*float64{
		`$0.00 {"usd":0,"atLeast":false}`:            nil,
		`$1.75 {"usd":1.75,"atLeast":false}`:         {&one, &two},
		`at least $1.25 {"usd":1.25,"atLeast":true}`: {nil, &one},
		`- {"usd":null,"atLeast":true}`:              {nil, nil},
	} {
		var s Sum
		for _, usd := range prices {
			s.Add(usd)
		}
		text, err := json.Marshal(s)
		if got := s.String() + " " + string(text); got != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
