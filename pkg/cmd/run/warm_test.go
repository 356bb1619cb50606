package run

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Only a default gives way to a missing name.
func TestGiveUpKeepWarm(t *testing.T) {
	asked, byDefault := api.KeepWarm{Idle: time.Minute}, api.KeepWarm{Idle: time.Minute, ByDefault: true}
	only := byDefault
	only.Only = true
	for name, tt := range map[string]struct {
		w       api.KeepWarm
		user    string
		givesUp bool
	}{
		"by default":          {byDefault, "", true},
		"with a name":         {byDefault, "ann", false},
		"asked for":           {asked, "", false},
		"only on such a host": {only, "", false},
		"no warm host at all": {api.KeepWarm{}, "", false},
	} {
		w := tt.w
		note := giveUpKeepWarm(&w, tt.user)
		if gaveUp := tt.w.Idle > 0 && w.Idle == 0; gaveUp != tt.givesUp || strings.Contains(note, "set USER") != tt.givesUp {
			t.Errorf("%s: gave up: %v, %q; want %v", name, gaveUp, note, tt.givesUp)
		}
	}
}
