// The binary kubectl-kinetic_jobs is `kubectl kinetic jobs`.
package main

import (
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/jobs"
)

func main() { os.Exit(cli.Main(jobs.NewCommand)) }
