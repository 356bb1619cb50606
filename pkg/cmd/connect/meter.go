package connect

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// NewMeter returns a meter for the jobs of a cluster, at a time of the cluster's clock. Nothing is contacted.
func NewMeter(c *Flags, errOut io.Writer, now time.Time) price.Meter {
	m := price.Meter{Prices: Prices(errOut), Now: now}
	if where, err := c.ResolveStored(); err == nil { // else the prices are those of the catalogue
		m.Region = config.Region(where.Known().Zone)
	}
	return m
}

// Prices returns the prices for a command whose point they aren't: it warns of a mistake in the user's file, and
// continues with the prices of this program.
func Prices(errOut io.Writer) price.Table {
	prices, err := price.Read(os.Getenv)
	if err != nil {
		fmt.Fprintf(errOut, "warning: %v\n", err)
	}
	return prices
}
