package pool

import (
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/accelerators"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/config"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/down"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/initialize"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/status"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/up"
)

// Others returns the commands beside `kubectl kinetic pool` that a word before their arguments chooses, in the order of
// the help.
func Others() []cli.Other {
	return []cli.Other{
		{Word: "accelerators", New: accelerators.NewCommand},
		{Word: "up", New: up.NewCommand},
		{Word: "down", New: down.NewCommand},
		{Word: "status", New: status.NewCommand},
		{Word: "init", New: initialize.NewCommand},
		{Word: "doctor", New: doctor.NewCommand},
		{Word: "config", New: config.NewCommand},
		{Word: "profile", New: profile.NewCommand},
	}
}
