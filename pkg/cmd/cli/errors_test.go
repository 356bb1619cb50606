package cli

import (
	"context"
	"fmt"
	"testing"
)

// missing is an error of a package below, which knows whether the command line named what
// is not there.
type missing bool

func (m missing) Error() string { return "not there" }
func (m missing) Usage() bool   { return bool(m) }

func TestCodeOf(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"nothing":                       {nil, ExitDone},
		"any error":                     {context.Canceled, ExitFailed},
		"a mistake":                     {fmt.Errorf("x: %w", Usagef("y")), ExitUsage},
		"a job's own code":              {Exit(7), 7},
		"a namespace that is not there": {fmt.Errorf("starting: %w", missing(true)), ExitUsage},
		"another object that is not":    {fmt.Errorf("starting: %w", missing(false)), ExitFailed},
	} {
		if got := CodeOf(tt.err); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", name, got, tt.want)
		}
	}
}

func TestOneOf(t *testing.T) {
	for name, tt := range map[string]struct {
		value string
		valid []string
		want  string
	}{
		"a valid one":      {"yaml", []string{"json", "yaml"}, ""},
		"a near one":       {"yml", []string{"json", "yaml"}, `--output "yml": expected one of json, yaml; did you mean "yaml"?`},
		"like none":        {"table", []string{"json", "yaml"}, `--output "table": expected one of json, yaml`},
		"of a single one":  {"yaml", []string{"json"}, `--output "yaml": expected json`},
		"in another case":  {"JSON", []string{"json"}, `--output "JSON": expected json; did you mean "json"?`},
		"nothing, of some": {"", []string{"json", "yaml"}, `--output "": expected one of json, yaml`},
	} {
		err := OneOf("--output", tt.value, tt.valid)
		if (err == nil) != (tt.want == "") || err != nil && (err.Error() != tt.want || CodeOf(err) != ExitUsage) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
