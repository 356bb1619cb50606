// The binary kubectl-kinetic_jobs is `kubectl kinetic jobs`.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/jobs"
)

func main() {
	os.Exit(cli.Main(func(streams genericiooptions.IOStreams) *cobra.Command {
		return jobs.NewCommand(streams, clock.RealClock{})
	}))
}
