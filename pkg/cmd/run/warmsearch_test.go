package run

import (
	"context"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

func TestSilentHostKeepsNobodyWaiting(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &warmSearch{stop: func() {}, listed: make(chan struct{}), connected: make(chan struct{}), at: now, hosts: make([]kube.WarmHost, 2), likely: "silent"}
	close(s.listed)
	hosts, err := s.found(t.Context(), nil, now.Add(oldList))
	if len(hosts) != 2 || err != nil {
		t.Errorf("found returns %v, %v", hosts, err)
	}
	if conn, _ := s.take(t.Context(), "other", now); conn != nil {
		t.Error("take returns a connection to another host")
	}
	if conn, _ := s.take(t.Context(), "silent", now.Add(2*oldList)); conn != nil {
		t.Error("take returns what was asked long ago")
	}
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	if conn, _ := s.take(interrupted, "silent", now); conn != nil {
		t.Error("take returns a connection that was never made")
	}
	s.close()
	close(s.connected)
}

func TestInterruptedSearch(t *testing.T) {
	s := &warmSearch{listed: make(chan struct{}), at: time.Unix(1000, 0)}
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.found(interrupted, nil, s.at); err == nil {
		t.Error("found returns hosts that were never listed")
	}
}
