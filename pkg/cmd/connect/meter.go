package connect

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
)

// NewMeter returns a meter for the jobs of a cluster, at a time of the cluster's clock. Nothing is contacted.
func NewMeter(c *Flags, errOut io.Writer, now time.Time) price.Meter {
	m := price.Meter{Prices: Prices(errOut), Now: now}
	if where, err := c.ResolveStored(); err == nil { // else the prices are those of the catalogue
		m.Region = target.Region(where.Known().Zone)
	}
	return m
}

// Prices returns the prices for a command that also does without: it warns of mistakes in the user's file.
func Prices(errOut io.Writer) price.Table {
	prices, mistakes := price.Lenient(os.Getenv)
	for _, m := range mistakes {
		fmt.Fprintf(errOut, "warning: %v\n", m)
	}
	return prices
}
