// Package price knows list prices, and how long jobs have held accelerators. It knows no discounts,
// taxes and contracts, and no nodes that wait without a pod: no sum of its prices is a bill.
package price

import (
	_ "embed" // for prices.txt
	"fmt"
	"math"
	"os"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Variable names a file with prices that count before those of this program.
const Variable = "KINETIC_PRICES"

// The items besides accelerators and machine types.
const (
	ClusterHour   = "cluster-hour"
	NATHour       = "nat-hour" // for each machine that uses it
	AddressHour   = "address-hour"
	DiskGBMonth   = "disk-gb-month"
	BucketGBMonth = "bucket-gb-month"
)

// HoursPerMonth turns a price per hour into one per month, as Google Cloud does.
const HoursPerMonth = 730

// everywhere is the region of a price that holds in all of them.
const everywhere = "*"

//go:embed prices.txt
var pricesText string

// builtin returns the embedded prices. An error in the data is a bug of this program, and every test
// finds it.
var builtin = sync.OnceValue(func() map[key]line {
	lines, err := parse(pricesText)
	if err != nil {
		panic("price: prices.txt:" + err.Error())
	}
	return lines
})

// Table is a price list. The zero value has the prices of this program.
type Table struct {
	own  map[key]line // of the user's file
	path string
}

// Read reads the file that KINETIC_PRICES names, if it is set. env reads the environment. The error names the
// first mistake in the file; with it, the table has the prices of this program.
func Read(env func(string) string) (Table, error) {
	path := env(Variable)
	if path == "" {
		return Table{}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Table{}, fmt.Errorf("%s: reading the prices: %w", Variable, err)
	}
	own, err := parse(string(text))
	if err != nil {
		return Table{}, fmt.Errorf("%s: %s:%w; see docs/cost.md for the format", Variable, path, err)
	}
	return Table{own, path}, nil
}

// Accelerator returns the list price in USD of all hosts of a shape for an hour, on spot capacity if the
// shape is. basis says where and when it holds, "us-central1, 2026-08", and names the file it is from if
// that is not this program. In a region without a known price, it is that of the catalogue's region.
// known reports whether there is a price.
func (t Table) Accelerator(a api.Accelerator, region string) (perHour float64, basis string, known bool) {
	item, units := a.MachineType, a.Hosts
	if a.Kind == api.TPU {
		item, units = a.Name, a.Chips
	}
	if usd, basis, known := t.find(item, region, a.Spot); known {
		return Round(usd * float64(units)), basis, true
	}
	if a.PricePerHour == nil {
		return 0, "", false
	}
	return *a.PricePerHour, accelerator.PriceBasis(a), true
}

// Of returns the list price in USD of an item in its own unit, or of a machine without accelerators for an
// hour, in a region, on demand or on spot capacity. If only that of another region is known, it is that, and
// basis names the region.
func (t Table) Of(item, region string, spot bool) (usd float64, basis string, known bool) {
	if usd, basis, known := t.find(item, region, spot); known {
		return usd, basis, true
	}
	const elsewhere = "us-central1"
	return t.find(item, elsewhere, spot)
}

func (t Table) find(item, region string, spot bool) (usd float64, basis string, known bool) {
	for _, from := range []struct {
		lines map[key]line
		path  string
	}{{t.own, t.path}, {builtin(), ""}} {
		for _, k := range []key{{item, region}, {item, everywhere}} {
			l := from.lines[k] // zero if there is none
			price := l.usd
			if spot {
				price = l.spot
			}
			if price != nil {
				return *price, basisOf(k.region, l.asOf, from.path), true
			}
		}
	}
	return 0, "", false
}

func basisOf(region, asOf, path string) string {
	text := asOf
	if region != everywhere {
		text = region + ", " + asOf
	}
	if path != "" {
		text += ", " + path
	}
	return text
}

// Round returns four decimals, whole hundredths of a cent: 8 × 0.57 is 4.56 in print.
func Round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
