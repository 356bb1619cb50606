// The binary kubectl-kinetic_pool is the commands about clusters, their node pools, and the settings that
// choose one.
package main

import (
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/pool"
)

func main() { os.Exit(cli.Main(pool.NewCommand, pool.Others()...)) }
