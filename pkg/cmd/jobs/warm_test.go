package jobs

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

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
