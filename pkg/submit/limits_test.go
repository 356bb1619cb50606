package submit

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestCheckCall(t *testing.T) {
	if err := checkCall(api.Contract.Limits.Call); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if err := checkCall(api.Contract.Limits.Call + 1<<20); err == nil || !strings.Contains(err.Error(), "257 MiB, but a call may have at most 256 MiB") {
		t.Errorf("beyond it: %v", err)
	}
}
