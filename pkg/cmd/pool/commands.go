package pool

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

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

// Commands returns `kubectl kinetic pool`, and the commands that a word before their arguments
// chooses, in the order of the help.
func Commands(now clock.PassiveClock) (cli.NewCommand, []cli.Other) {
	with := func(command func(genericiooptions.IOStreams, clock.PassiveClock) *cobra.Command) cli.NewCommand {
		return func(streams genericiooptions.IOStreams) *cobra.Command { return command(streams, now) }
	}
	return with(NewCommand), []cli.Other{
		{Word: "accelerators", New: with(accelerators.NewCommand)},
		{Word: "up", New: with(up.NewCommand)},
		{Word: "down", New: with(down.NewCommand)},
		{Word: "status", New: with(status.NewCommand)},
		{Word: "init", New: with(initialize.NewCommand)},
		{Word: "doctor", New: with(doctor.NewCommand)},
		{Word: "config", New: with(config.NewCommand)},
		{Word: "profile", New: with(profile.NewCommand)},
	}
}
