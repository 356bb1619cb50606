package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// DollarsVar defines a flag for a positive amount of US dollars, with or without a $. Zero means that it was not given.
func DollarsVar(fs *pflag.FlagSet, p *float64, name, usage string) {
	fs.Var(flagValue[float64]{p, "amount", parseDollars, func(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }}, name, usage)
}

func parseDollars(s string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
	if err != nil || !(usd > 0) || usd > 1e9 {
		return 0, errors.New("expected an amount of US dollars, such as 5 or 2.50")
	}
	return usd, nil
}
