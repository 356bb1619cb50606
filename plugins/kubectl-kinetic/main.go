// Command kubectl-kinetic is the front door: `kubectl kinetic <command>`.
package main

import (
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/frontdoor"
)

func main() { os.Exit(frontdoor.Main()) }
