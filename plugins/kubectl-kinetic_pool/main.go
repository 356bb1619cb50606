// The binary kubectl-kinetic_pool is the commands about clusters, their node pools, and the settings that
// choose one.
package main

import (
	"os"

	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/pool"
)

func main() {
	command, others := pool.Commands(clock.RealClock{})
	os.Exit(cli.Main(command, others...))
}
