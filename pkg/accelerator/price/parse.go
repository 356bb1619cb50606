package price

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// key is what a price is for.
type key struct{ item, region string }

// line is a line of a file with prices. A nil price is not known.
type line struct {
	usd, spot *float64
	asOf      string
}

const columns = 5

var (
	// machinePattern is that of a machine type such as e2-standard-4 or e2-medium. New ones need no new
	// version of this program.
	machinePattern = lazyregexp.New(`^[a-z]+[0-9]+[a-z]*-[a-z]+(-[a-z0-9]+)*$`)
	regionPattern  = lazyregexp.New(`^(\*|[a-z]+(-[a-z]+)*-[a-z]+[0-9]+)$`)
)

// isDate reports whether a text is a year, a month or a day.
func isDate(text string) bool {
	for _, layout := range []string{"2006", "2006-01", time.DateOnly} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// parse reads a text with prices, in the format that prices.txt explains. It leaves out lines with mistakes.
// Their errors begin with the number of the line.
func parse(text string) (lines map[key]line, mistakes []error) {
	lines = map[key]line{}
	n := 0
	for row := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		fields := strings.Fields(row)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		k, l, err := parseLine(fields)
		if _, twice := lines[k]; twice && err == nil {
			err = fmt.Errorf("%s in %s is listed twice", k.item, k.region)
		}
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%d: %w", n, err))
			continue
		}
		lines[k] = l
	}
	return lines, mistakes
}

func parseLine(fields []string) (key, line, error) {
	if len(fields) != columns {
		return key{}, line{}, fmt.Errorf("it has %d columns, not %d: item, usd, spot, region, as-of", len(fields), columns)
	}
	k, l := key{fields[0], fields[3]}, line{asOf: fields[4]}
	switch {
	case !regionPattern().MatchString(k.region):
		return k, l, fmt.Errorf("%q is not a region: expected one such as us-central1, or * for all", k.region)
	case !isDate(l.asOf):
		return k, l, fmt.Errorf("%q is not a date: expected one such as 2026-08", l.asOf)
	}
	err := checkItem(k.item)
	if err != nil {
		return k, l, err
	}
	if l.usd, err = parseUSD(fields[1]); err != nil {
		return k, l, err
	}
	l.spot, err = parseUSD(fields[2])
	if err == nil && l.usd == nil && l.spot == nil {
		err = fmt.Errorf("%s has no price", k.item)
	}
	return k, l, err
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
