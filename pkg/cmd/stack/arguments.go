package stack

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// NoArguments refuses arguments: the commands have only flags.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	name := c.Name()
	if name == "status" {
		return cli.Usagef("status takes no argument, got %q: name a cluster with --cluster; the status of a job is `kubectl kinetic jobs status %s`", args[0], args[0])
	}
	if flag := withoutValue(c.Flags()); flag != "" {
		return cli.Usagef("%s takes no argument, got %q: to set --%s, write --%[3]s=%[2]s; to name a cluster, use --cluster", name, args[0], flag)
	}
	return cli.Usagef("%s takes no argument, got %q: name the cluster with --cluster", name, args[0])
}

// withoutValue returns the only flag that was given without its value, which it can do without, "" if none or
// several were.
func withoutValue(flags *pflag.FlagSet) string {
	var names []string
	flags.Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" && f.Value.String() == f.NoOptDefVal {
			names = append(names, f.Name)
		}
	})
	if len(names) != 1 {
		return ""
	}
	return names[0]
}
