package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

// searched returns a search that has ended, or not yet, with a last host.
func searched(at time.Time, ended bool, c connection) *warmSearch {
	s := &warmSearch{stop: func() {}, tried: make(chan struct{}), at: at, connection: c, list: func() ([]kube.WarmHost, error) { return make([]kube.WarmHost, 2), nil }}
	s.last.ID = "last"
	if ended {
		close(s.tried)
	}
	return s
}

func TestLastHost(t *testing.T) {
	now, conn := time.Unix(1000, 0), &warm.Conn{}
	interrupted, stop := context.WithCancelCause(t.Context())
	stop(errors.New("interrupted"))
	for _, tt := range []struct {
		name string
		ctx  context.Context
		s    *warmSearch
		idle bool
		took bool
	}{
		{"idle", t.Context(), searched(now, true, connection{conn, warm.State{}}), true, true},
		{"busy", t.Context(), searched(now, true, connection{conn, warm.State{Current: "other"}}), false, true},
		{"gone", t.Context(), searched(now, true, connection{}), false, false},
		{"asked long ago", t.Context(), searched(now.Add(-2*oldAnswer), true, connection{conn, warm.State{}}), false, false},
		{"silent", interrupted, searched(now, false, connection{}), false, false},
	} {
		if got := tt.s.lastIsIdle(tt.ctx, now); got != tt.idle {
			t.Errorf("%s: idle is %t", tt.name, got)
		}
		if other, _ := tt.s.take(tt.ctx, "other", now); other != nil {
			t.Errorf("%s: take returns a connection to another host", tt.name)
		}
		if got, _ := tt.s.take(tt.ctx, "last", now); (got != nil) != tt.took {
			t.Errorf("%s: take returns %v", tt.name, got)
		}
		if tt.s.lastIsIdle(tt.ctx, now) {
			t.Errorf("%s: the connection can be taken twice", tt.name)
		}
	}
}

func TestSilentHostKeepsNobodyWaiting(t *testing.T) {
	s := searched(time.Unix(1000, 0), false, connection{})
	if hosts, err := s.found(t.Context(), nil, s.at); len(hosts) != 2 || err != nil {
		t.Errorf("found returns %v, %v while the last host is silent", hosts, err)
	}
	close(s.tried)
	s.close()
}
