package job

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A hint about jobs that have ended reads only some of a store.
func TestEnded(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	reg := Registry{Store: s, Kind: api.BackendLocal}
	write := func(id, label string, ended bool) {
		texts := map[string]string{store.Handle(id): fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"local","user":"me","labels":{"sweep":%q}}`, id, label)}
		if ended {
			texts[store.End(id)] = `{"version":1,"state":"SUCCEEDED","reason":"Completed"}`
		}
		for name, text := range texts {
			if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(what string, f Filter, want int, unsure bool) {
		t.Helper()
		if n, not := reg.Ended(t.Context(), f); n != want || not != unsure {
			t.Errorf("%s: got %d, unsure %v", what, n, not)
		}
	}
	check("nothing", Filter{}, 0, false)
	write("a-1", "7", true)
	write("b-2", "8", true)
	write("c-3", "7", false)
	seven := labels.SelectorFromSet(labels.Set{"sweep": "7"})
	check("all", Filter{}, 2, false)
	check("with a label", Filter{Selector: seven}, 1, false)
	check("of someone else", Filter{User: "you"}, 0, false)
	check("of me", Filter{User: "me"}, 2, false)
	check("that run", Filter{States: []api.State{api.Running}}, 0, false)
	for i := range maxRecalled {
		write(fmt.Sprintf("cpu-x-20260101-0000%02d-aaaaaaa", i), "9", true)
	}
	check("of many", Filter{}, maxRecalled, true)
	check("older ones of many", Filter{Selector: seven}, 0, true)
}
