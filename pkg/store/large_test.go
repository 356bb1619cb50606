package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestCreateLarge(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		for i, text := range []string{"abc", "", strings.Repeat("x", store.Part), strings.Repeat("x", store.Part+1)} {
			name := fmt.Sprintf("j%d/payload.pkl", i)
			var calls int
			if err := p.open().CreateLarge(t.Context(), name, hash(text), int64(len(text)), opener(text, &calls)); err != nil || calls != 1 {
				t.Errorf("object %d: open called %d times, error %v", i, calls, err)
			}
			if got := read(t, p.open(), name); got != text {
				t.Errorf("object %d: read %d bytes, want the %d written", i, len(got), len(text))
			}
		}
		err := createLargeAs(t, "j0/payload.pkl", "two", "two")(p.open())
		if !errors.Is(err, store.ErrExists) || read(t, p.open(), "j0/payload.pkl") != "abc" {
			t.Errorf("second CreateLarge: error %v, want ErrExists", err)
		}
		if err := createLargeAs(t, "../x", "two", "two")(p.open()); err == nil || !strings.Contains(err.Error(), "object name") {
			t.Errorf("an object elsewhere: error %v", err)
		}
	})
}
