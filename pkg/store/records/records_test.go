package records

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func storeWith(t *testing.T, objects map[string]string) store.Store {
	t.Helper()
	s, err := store.OpenFile("file://" + filepath.ToSlash(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range objects {
		if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestAttemptsComeInTheirOrder(t *testing.T) {
	s := storeWith(t, map[string]string{"a1/attempts/10.json": `{"attempt":10}`, "a1/attempts/9.json": `{"attempt":9}`, "a1/end.json": "{}"})
	attempts, err := Attempts(t.Context(), s, store.Attempts("a1"))
	if diff := cmp.Diff([]api.Attempt{{Attempt: 9}, {Attempt: 10}}, attempts); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestDocumentsThatCannotBeRead(t *testing.T) {
	s := storeWith(t, map[string]string{"newer/end.json": `{"version":99}`, "torn/end.json": `{"vers`})
	var newer *api.VersionError
	if _, err := End(t.Context(), s, "newer"); !errors.As(err, &newer) || newer.Got != 99 {
		t.Errorf("newer: got %v", err)
	}
	if _, err := End(t.Context(), s, "torn"); err == nil || !strings.Contains(err.Error(), "torn/end.json") {
		t.Errorf("torn: got %v", err)
	}
	if _, err := End(t.Context(), s, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("none: got %v", err)
	}
}

// Who records the end first is right.
func TestCreateEnd(t *testing.T) {
	s := storeWith(t, nil)
	first, second := CreateEnd(t.Context(), s, "a1", api.End{State: api.Failed}), CreateEnd(t.Context(), s, "a1", api.End{State: api.Succeeded})
	end, err := End(t.Context(), s, "a1")
	if err := errors.Join(first, err); err != nil || !errors.Is(second, store.ErrExists) || end.State != api.Failed || end.Version != api.EndVersion {
		t.Errorf("got %+v, %v; the second: %v", end, err, second)
	}
}
