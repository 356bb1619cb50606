package pack

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestCheckIndex(t *testing.T) {
	if err := checkIndex(api.Contract.Limits.Index, 9); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	err := checkIndex(api.Contract.Limits.Index+1<<20, 600_000)
	if err == nil || !strings.Contains(err.Error(), "600000 files") || !strings.Contains(err.Error(), "65 MiB, more than 64 MiB") {
		t.Errorf("beyond it: %v", err)
	}
}
