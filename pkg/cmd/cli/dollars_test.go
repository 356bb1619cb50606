package cli

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestDollarsVar(t *testing.T) {
	for text, want := range map[string]float64{"5": 5, "2.50": 2.5, "$5": 5, "": 0, "0": 0, "-1": 0, "five": 0, "NaN": 0, "Inf": 0, "1e300": 0, "5 USD": 0} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		var got float64
		DollarsVar(fs, &got, "max-cost", "")
		if err := fs.Parse([]string{"--max-cost=" + text}); (err == nil) != (want > 0) || got != want {
			t.Errorf("%q: got %g, %v, want %g", text, got, err, want)
		}
	}
}
