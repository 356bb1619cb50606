// The binary kubectl-kinetic_run is `kubectl kinetic run` and `kubectl kinetic build-image`.
package main

import (
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/buildimage"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/run"
)

func main() {
	os.Exit(cli.Main(run.NewCommand, cli.Other{Word: "build-image", New: buildimage.NewCommand}))
}
