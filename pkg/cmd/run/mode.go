package run

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// mode is what the command does with a plan.
type mode int

const (
	modeRun mode = iota
	modePrepare
	modeServerDryRun
	modeDryRun
	modeExplain
	modeWriteOverlay
)

func (m mode) contacts() bool { return m == modeRun || m == modePrepare || m == modeServerDryRun }

// submits reports whether the mode creates a job, which gets its own id.
func (m mode) submits() bool { return m == modeRun || m == modePrepare }

func (f *flags) mode() (mode, error) {
	modes := []mode{}
	switch f.dryRun {
	case "none":
	case "client":
		modes = append(modes, modeDryRun)
	case "server":
		modes = append(modes, modeServerDryRun)
	default:
		return 0, cli.OneOf("--dry-run", f.dryRun, []string{"none", "client", "server"})
	}
	if f.explain {
		modes = append(modes, modeExplain)
	}
	if f.writeOverlay != "" {
		modes = append(modes, modeWriteOverlay)
	}
	if f.prepare {
		modes = append(modes, modePrepare)
	}
	switch len(modes) {
	case 0:
		return modeRun, nil
	case 1:
		return modes[0], nil
	default:
		return 0, fmt.Errorf("--dry-run, --explain, --write-overlay and --prepare cannot be combined: use one of them")
	}
}
