// Package cluster is the list of the commands of kubectl-kinetic_pool: those about clusters and
// node pools, and about the settings that choose one.
package cluster

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cluster/accelerators"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cluster/config"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cluster/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cluster/up"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/pool"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
)

// Commands returns `kubectl kinetic pool`, and the commands that a word before their arguments
// chooses, in the order of the help.
func Commands(now clock.PassiveClock) (process.NewCommand, []process.Other) {
	with := func(command func(genericiooptions.IOStreams, clock.PassiveClock) *cobra.Command) process.NewCommand {
		return func(streams genericiooptions.IOStreams) *cobra.Command { return command(streams, now) }
	}
	return with(pool.NewCommand), []process.Other{
		{Word: "accelerators", New: with(accelerators.NewCommand)},
		{Word: "up", New: with(up.NewCommand)},
		{Word: "down", New: with(up.NewDownCommand)},
		{Word: "status", New: with(up.NewStatusCommand)},
		{Word: "init", New: with(doctor.NewInit)},
		{Word: "doctor", New: with(doctor.NewCommand)},
		{Word: "config", New: with(config.NewCommand)},
		{Word: "profile", New: with(profile.NewCommand)},
	}
}
