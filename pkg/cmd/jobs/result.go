package jobs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

type resultFlags struct {
	timeout time.Duration
	cleanup bool
	output  string
	file    string
}

func (c *command) result() *cobra.Command {
	f := &resultFlags{}
	own := cli.NewSection("Flags")
	cli.DurationVar(own.Flags, &f.timeout, "timeout", "Wait no longer than this for the job to end (exit code 124).")
	own.Flags.BoolVar(&f.cleanup, "cleanup", true, "Remove the workload and the result once it has been printed.")
	own.Flags.StringVarP(&f.output, "output", "o", "json", "The `FORMAT`: json, or raw, which is a string without its quotes.")
	own.Flags.StringVar(&f.file, "output-file", "", "Write the result to this `FILE` instead of standard output.")
	return c.finish(&cobra.Command{
		Use:   "result ID",
		Short: "Wait for a job and print its return value as JSON",
		Long: "Wait for a job and print its return value as JSON.\n\n" +
			"Once the value has been written, the workload and the result are removed; --cleanup=false keeps them.\n" +
			"Those of `run --debug` stay, unless --cleanup is said.\n" +
			"The handle, the logs and the outputs stay until `kubectl kinetic jobs cleanup`.",
		Example: "  kubectl kinetic jobs result cpu-train\n\n  kubectl kinetic jobs result cpu-train --cleanup=false --output-file result.json",
		Args:    oneID,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			if !slices.Contains([]string{"json", "raw"}, f.output) {
				return cli.Usagef("--output %q: want json or raw", f.output)
			}
			if info, err := os.Stat(filepath.Dir(f.file)); f.file != "" && (err != nil || !info.IsDir()) {
				return cli.Usagef("--output-file %s: there is no directory %s", f.file, filepath.Dir(f.file))
			}
			j, err := c.attach(ctx, args[0])
			if err != nil {
				return err
			}
			waiting, cancel := cli.WithTimeout(ctx, f.timeout)
			defer cancel()
			status, err := j.Wait(waiting, c.tellWaiting())
			if err != nil {
				return cli.Interrupted(c.streams.ErrOut, j, err)
			}
			if status.State != api.Succeeded {
				return cli.Settle(ctx, c.streams.ErrOut, j, status)
			}
			cleanup := f.cleanup && (!j.Handle.Debug || own.Flags.Changed("cleanup"))
			return cli.Collect(ctx, c.streams, j, cli.Collection{Cleanup: cleanup, Raw: f.output == "raw", File: f.file})
		}),
	}, own)
}
