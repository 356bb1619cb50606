package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReservation(t *testing.T) {
	for text, want := range map[string]Reservation{
		"mine":                      {Name: "mine"},
		"projects/p/reservations/r": {Project: "p", Name: "r"},
		"projects/p/reservations/r/reservationBlocks/b":                        {Project: "p", Name: "r", Block: "b"},
		"projects/p/reservations/r/reservationBlocks/b/reservationSubBlocks/s": {Project: "p", Name: "r", Block: "b", SubBlock: "s"},
	} {
		got, err := ParseReservation(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{
		"a/b", "projects/p", "projects//reservations/r", "projects/p/reservations/", "reservations/r/reservationBlocks/b",
		"projects/p/reservations/r/reservationBlocks", "projects/p/reservations/r/reservationSubBlocks/s",
		"projects/p/reservations/r/reservationBlocks/b/reservationSubBlocks/s/more/x",
	} {
		if got, err := ParseReservation(text); err == nil {
			t.Errorf("%s: no error, but %+v", text, got)
		}
	}
}
