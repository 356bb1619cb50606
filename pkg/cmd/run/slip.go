package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// unknownFlag explains how to pass an argument to the code, which is what unknown flags are
// mostly meant for.
func (f *flags) unknownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	// hardwareFlags are other tools' names for --accelerator.
	hardwareFlags := []string{"gpu", "gpus", "tpu", "tpus", "accelerators", "gpu-type", "machine-type", "instance-type"}
	if slices.Contains(hardwareFlags, unknown.GetSpecifiedName()) {
		return cli.Usagef("%w; choose the hardware with -a, as in -a l4, -a a100x8 or -a tpu-v6e-8", err)
	}
	if unknown.GetSpecifiedName() == "all" && (c.Flags().Changed("help") || f.module == "" && len(c.Flags().Args()) == 0) {
		return cli.Usagef("%w; all flags: %s --help=all", err, c.CommandPath())
	}
	hint := f.passing(c.Flags().Args(), unknown)
	if hint == "" {
		return err
	}
	if meant := cli.MeantFlag(c, err); meant != "" {
		return cli.Usagef("%w; %s %s%s", err, meant, strings.ToUpper(hint[:1]), hint[1:])
	}
	return cli.Usagef("%w; %s", err, hint)
}

// passing says how to pass an argument with the flag's name to TARGET, "" if TARGET does
// not precede the flag.
func (f *flags) passing(words []string, unknown *pflag.NotExistError) string {
	dashed, name := "--"+unknown.GetSpecifiedName(), unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		dashed, name = "-"+letters, letters
	}
	switch {
	case f.module != "":
		return fmt.Sprintf("pass arguments to the module after --: kubectl kinetic run -m %s -- %s …", f.module, dashed)
	case len(words) == 0:
		return ""
	case f.request.Command:
		return fmt.Sprintf("write the command after --: kubectl kinetic run --command -- %s %s …", strings.Join(words, " "), dashed)
	case strings.Contains(words[0], ":"):
		return fmt.Sprintf("pass arguments to the function with --arg: kubectl kinetic run %s --arg %s=…", words[0], strings.ReplaceAll(name, "-", "_"))
	}
	return fmt.Sprintf("pass arguments to the script after --: kubectl kinetic run %s -- %s …", words[0], dashed)
}
