// The binary kubectl-kinetic_run is `kubectl kinetic run` and `kubectl kinetic build-image`.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/buildimage"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/run"
)

func main() {
	os.Exit(cli.Main(func(streams genericiooptions.IOStreams) *cobra.Command {
		return run.NewCommand(streams, clock.RealClock{})
	}, cli.Other{Word: "build-image", New: func(streams genericiooptions.IOStreams) *cobra.Command {
		return buildimage.NewCommand(streams, clock.RealClock{})
	}}))
}
