package api

import (
	"fmt"
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

func TestLimitsAreTheRunners(t *testing.T) {
	for name, bytes := range map[string]int{"CALL_LIMIT": MaxCallBytes, "INDEX_LIMIT": MaxIndexBytes} {
		if got, want := runnertest.Constant(t, name), fmt.Sprintf("%d << 20", bytes>>20); got != want {
			t.Errorf("%s: the runner has %s, want %s", name, got, want)
		}
	}
}
