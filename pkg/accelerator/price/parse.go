package price

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

type key struct{ item, region string }

// line is a line of a file with prices. A nil price is not known.
type line struct {
	usd, spot *float64
	asOf      string
}

const (
	// machinePattern is that of a machine type such as e2-standard-4 or e2-medium. New ones need no new
	// version of this program.
	machinePattern = `^[a-z]+[0-9]+[a-z]*-[a-z]+(-[a-z0-9]+)*$`
	regionPattern  = `^(\*|[a-z]+(-[a-z]+)*-[a-z]+[0-9]+)$`
)

// parse reads a text with prices, in the format that prices.txt explains, up to the first mistake. The error
// begins with the number of the line.
func parse(text string) (map[key]line, error) {
	lines := map[key]line{}
	n := 0
	for row := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		fields := strings.Fields(row)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		k, l, err := parseLine(fields)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		lines[k] = l
	}
	return lines, nil
}

func parseLine(fields []string) (k key, l line, err error) {
	if len(fields) != 5 {
		return k, l, fmt.Errorf("it has %d columns: expected 5: item, usd, spot, region, as-of", len(fields))
	}
	k, l.asOf = key{fields[0], fields[3]}, fields[4]
	if !lazyregexp.Of(regionPattern).MatchString(k.region) {
		return k, l, fmt.Errorf("%q is not a region: expected one such as us-central1, or * for all", k.region)
	}
	if err := checkItem(k.item); err != nil {
		return k, l, err
	}
	if l.usd, err = parseUSD(fields[1]); err != nil {
		return k, l, err
	}
	l.spot, err = parseUSD(fields[2])
	return k, l, err
}

// checkItem returns an error for an item whose price would never be used.
func checkItem(item string) error {
	words := []string{ClusterHour, NATHour, AddressHour, DiskGBMonth, BucketGBMonth}
	isTPU := func(a api.Accelerator) bool { return a.Kind == api.TPU && a.Name == item }
	if slices.Contains(words, item) || lazyregexp.Of(machinePattern).MatchString(item) || slices.ContainsFunc(accelerator.Catalogue(), isTPU) {
		return nil
	}
	return fmt.Errorf("%q is not an item: expected a TPU such as v6e (the price of a chip), a machine type such as g2-standard-4, or %s",
		item, strings.Join(words, ", "))
}

// parseUSD reads a number of dollars, nil for a dash.
func parseUSD(text string) (*float64, error) {
	if text == "-" {
		return nil, nil
	}
	usd, err := strconv.ParseFloat(text, 64)
	const most = 1e6 // a mistake in the unit
	if err != nil || !(usd >= 0 && usd < most) {
		return nil, fmt.Errorf("%q is not a price: expected dollars such as 2.70, or - for none", text)
	}
	return &usd, nil
}
