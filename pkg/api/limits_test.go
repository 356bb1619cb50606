package api

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestLimitsAreTheRunners(t *testing.T) {
	source, err := os.ReadFile("../../runner/remote_runner.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, bytes := range map[string]int{"CALL_LIMIT": MaxCallBytes, "INDEX_LIMIT": MaxIndexBytes} {
		if want := fmt.Sprintf("\n%s = %d * MIB", name, bytes>>20); !strings.Contains(string(source), want) {
			t.Errorf("the runner has no line %q", strings.TrimSpace(want))
		}
	}
}
