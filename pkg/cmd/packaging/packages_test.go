package packaging

import (
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// TestSilentServers: neither an index nor a registry may keep a command waiting forever.
func TestSilentServers(t *testing.T) {
	p := Provider(t.Context(), Place{}, "", time.Now)
	for name, used := range map[string]any{"indexes": p.Resolver.HTTP.Transport, "registries": p.Images.Transport} {
		if limit, ok := used.(transport.SilenceLimit); !ok || limit.Within <= 0 {
			t.Errorf("%s are asked with %T", name, used)
		}
	}
}
