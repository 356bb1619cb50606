package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

type dollarsValue float64

// DollarsVar defines a flag for a positive amount of US dollars, with or without a $. Zero means that it was not given.
func DollarsVar(fs *pflag.FlagSet, p *float64, name, usage string) {
	fs.Var((*dollarsValue)(p), name, usage)
}

func (d *dollarsValue) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
	if err != nil || !(v > 0) || v > 1e9 {
		return errors.New("expected an amount of US dollars, such as 5 or 2.50")
	}
	*d = dollarsValue(v)
	return nil
}

func (d *dollarsValue) String() string {
	if *d == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*d), 'f', -1, 64)
}

func (d *dollarsValue) Type() string { return "amount" }
