// The binary kubectl-kinetic_pool is the commands about clusters, their node pools, and the settings that
// choose one.
package main

import (
	"os"

	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cluster"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
)

func main() {
	pool, others := cluster.Commands(clock.RealClock{})
	os.Exit(process.Main(pool, others...))
}
