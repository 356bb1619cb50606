package profile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// change changes the profiles. All errors but those of the disk are about what was typed, or about
// the file.
func (c *command) change(ctx context.Context, edit func(*config.ProfileDraft) error) error {
	return usage(ctx, config.ChangeProfiles(ctx, c.env, edit))
}

func usage(ctx context.Context, err error) error {
	if errors.As(err, new(*fs.PathError)) || ctx.Err() != nil {
		return err
	}
	return cli.Usage(err)
}

func use(streams genericiooptions.IOStreams) *cobra.Command {
	c := newCommand(streams)
	return c.named(&cobra.Command{
		Use:     "use NAME",
		Short:   "Make a profile the current one",
		Example: "  kubectl kinetic profile use prod",
	}, 1, c.use, connections())
}

func (c *command) use(ctx context.Context, name string) error {
	err := c.change(ctx, func(d *config.ProfileDraft) error {
		if err := d.Use(name); err != nil {
			return fmt.Errorf("profile %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.say("profile " + name + " is the current one now")
	c.warnOfVariable(name)
	return nil
}

func unset(streams genericiooptions.IOStreams) *cobra.Command {
	c := newCommand(streams)
	return c.named(&cobra.Command{
		Use:               "unset",
		Short:             "Clear the current profile",
		Example:           "  kubectl kinetic profile unset",
		ValidArgsFunction: cobra.NoFileCompletions,
	}, 0, c.unset, connections())
}

func (c *command) unset(ctx context.Context, name string) error {
	if name != "" {
		return cli.Usagef("profile unset takes no argument, got %q; `kubectl kinetic profile rm %s` removes one", name, name)
	}
	err := c.change(ctx, func(d *config.ProfileDraft) error {
		d.Unset()
		return nil
	})
	if err != nil {
		return err
	}
	c.say("there is no current profile")
	c.warnOfVariable("")
	return nil
}

func remove(streams genericiooptions.IOStreams) *cobra.Command {
	c := newCommand(streams)
	own := cli.NewSection("Flags")
	yes := own.Flags.BoolP("yes", "y", false, "Don't ask for confirmation.")
	return c.named(&cobra.Command{
		Use:     "rm NAME",
		Aliases: []string{"remove"},
		Short:   "Remove a profile; its cluster stays",
		Example: "  kubectl kinetic profile rm prod",
	}, 1, func(ctx context.Context, name string) error { return c.remove(ctx, name, *yes) }, own, connections())
}

func (c *command) remove(ctx context.Context, name string, yes bool) error {
	file, err := config.ReadProfiles(c.env)
	if err != nil {
		return cli.Usage(err)
	}
	p, err := file.Find(name)
	if err != nil {
		return cli.Usagef("profile %s: %w", name, err)
	}
	if !yes {
		would := fmt.Sprintf("profile %s of %s would be removed; the cluster stays", name, p.Place())
		if err := cli.MustConfirm(ctx, c.streams, would, "nothing was removed", "--yes"); err != nil {
			return err
		}
	}
	if err := c.change(ctx, func(d *config.ProfileDraft) error { return d.Remove(name) }); err != nil {
		return err
	}
	if file.Current == name {
		c.say("profile " + name + " was removed; there is no current profile")
	} else {
		c.say("profile " + name + " was removed")
	}
	return nil
}
