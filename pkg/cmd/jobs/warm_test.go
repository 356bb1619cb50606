package jobs

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

func TestChooseHosts(t *testing.T) {
	const one, other = "v6e8-warm-20261128-050000-abc1234", "v6e8-warm-20261128-050000-abd1234"
	for words, want := range map[string]string{
		one: one, "v6e8-warm-20261128-050000-abc": one, "abd1234": other, "abc1234 abd1234": one + " " + other, "": one + " " + other,
		"v":       "2 warm hosts match v; use the whole ID",
		"1234":    "no warm host 1234; list them with kubectl kinetic jobs warm",
		"bc1234":  "no warm host bc1234; list them with kubectl kinetic jobs warm",
		"xbc1234": "no warm host xbc1234; list them with kubectl kinetic jobs warm",
	} {
		hosts := []kube.WarmHost{{}, {}}
		hosts[0].ID, hosts[1].ID = other, one
		chosen, err := chooseHosts(hosts, strings.Fields(words), false)
		var ids []string
		for _, h := range chosen {
			ids = append(ids, h.ID)
		}
		if len(ids) > 1 && words == "" {
			slices.Sort(ids)
		}
		if got := strings.Join(ids, " "); got != want && (err == nil || err.Error() != want) {
			t.Errorf("%q: got %s, %v; want %s", words, got, err, want)
		}
	}
	var host kube.WarmHost
	host.ID = "warm-4"
	if chosen, err := chooseHosts([]kube.WarmHost{host}, []string{"4"}, false); err == nil {
		t.Errorf("4 names %v", chosen)
	}
}

// A terminal shows all columns, with the short forms of IDs.
func TestWarmTable(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	host := func(id, current string) warmItem {
		calls, left := 7, 540.0
		return warmItem{ID: id, Accelerator: "cpu", Owner: "ada", Created: now.Add(-time.Hour), State: api.Running, Calls: &calls, Current: current, EndsInSeconds: &left}
	}
	items := []warmItem{host("cpu-warm-20260901-110000-abc1234", ""), host("cpu-warm-20260901-110001-bcd2345", "cpu-train-20260901-115900-cde3456")}
	*items[0].Calls, items[0].IdleSeconds = 12, items[0].EndsInSeconds
	for name, tt := range map[string]struct {
		style ui.Style
		want  string
	}{
		"in a pipe": {ui.Style{}, `ID                                 ACCELERATOR   OWNER   AGE   CALLS   IDLE                                     ENDS IN   COST
cpu-warm-20260901-110000-abc1234   cpu           ada     60m   12      9m                                       9m        <none>
cpu-warm-20260901-110001-bcd2345   cpu           ada     60m   7       runs cpu-train-20260901-115900-cde3456   <none>    <none>
`},
		"on a terminal": {ui.Style{Redraw: true}, `ID        ACCELERATOR   OWNER   AGE   CALLS   IDLE           ENDS IN   COST
abc1234   cpu           ada     60m   12      9m             9m        <none>
bcd2345   cpu           ada     60m   7       runs cde3456   <none>    <none>
`},
	} {
		var out bytes.Buffer
		if err := warmTable(&out, tt.style, items, now); err != nil || out.String() != tt.want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, &out, tt.want)
		}
	}
}
