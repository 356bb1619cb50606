package profile

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// entry is a profile as programs read it.
type entry struct {
	Name          string `json:"name"`
	Current       bool   `json:"current"`
	Project       string `json:"project,omitempty"`
	Zone          string `json:"zone,omitempty"`
	Cluster       string `json:"cluster,omitempty"`
	Context       string `json:"context,omitempty"`
	Namespace     string `json:"namespace"`
	Store         string `json:"store,omitempty"`
	ImageRepo     string `json:"imageRepo,omitempty"`
	BaseImage     string `json:"baseImage,omitempty"`
	BaseImageRepo string `json:"baseImageRepo,omitempty"`
	CPU           string `json:"cpu,omitempty"`
	Memory        string `json:"memory,omitempty"`

	PathwaysImages string `json:"pathwaysImages,omitempty"`
	KeepWarm       string `json:"keepWarm,omitempty"`
	CacheSize      string `json:"cacheSize,omitempty"`
	CacheScope     string `json:"cacheScope,omitempty"`
}

func newEntry(p config.Profile, current string) entry {
	return entry{p.Name, p.Name == current, p.Project, p.Zone, p.Cluster, p.Context, p.Namespace, p.Store, p.ImageRepo, p.BaseImage, p.BaseImageRepo, p.CPU, p.Memory, p.PathwaysImages, p.KeepWarm, p.CacheSize, p.CacheScope}
}

func list(streams genericiooptions.IOStreams) *cobra.Command {
	c := newCommand(streams)
	return c.named(&cobra.Command{
		Use:               "ls",
		Aliases:           []string{"list"},
		Short:             "List the profiles",
		Example:           "  kubectl kinetic profile ls\n  kubectl kinetic profile ls -o name",
		ValidArgsFunction: cobra.NoFileCompletions,
	}, 0, func(_ context.Context, name string) error {
		if name != "" {
			return cli.Usagef("profile ls takes no argument, got %q; `kubectl kinetic profile show %s` prints one", name, name)
		}
		return c.list()
	}, c.outputSection(), connections())
}

func (c *command) list() error {
	file, err := config.ReadProfiles(c.env)
	if err != nil {
		return cli.Usage(err)
	}
	all := []entry{}
	for _, name := range file.Names() {
		p, err := file.Find(name)
		if err != nil {
			return err
		}
		all = append(all, newEntry(p, file.Current))
	}
	switch {
	case c.output == nameFormat:
		for _, e := range all {
			fmt.Fprintln(c.streams.Out, e.Name)
		}
		return nil
	case c.output != "":
		return cli.Write(c.streams.Out, c.output, map[string]any{"items": all})
	case len(all) == 0:
		c.say("there are no profiles in " + file.Path + "; `kubectl kinetic profile create NAME` makes one")
		return nil
	}
	columns := ui.Columns("current", "name", "project", "zone", "cluster", "context", "namespace")
	for i := range columns[2:] {
		columns[2+i].Varies, columns[2+i].Text = true, true
	}
	table := ui.NewFitted(c.streams.Out, ui.Detect(c.streams.Out), true, columns...)
	for _, e := range all {
		mark := " "
		if e.Current {
			mark = "*"
		}
		table.Row(mark, e.Name, cmp.Or(e.Project, "-"), cmp.Or(e.Zone, "-"), cmp.Or(e.Cluster, "-"), cmp.Or(e.Context, "-"), e.Namespace)
	}
	c.warnOfVariable(file.Current)
	return table.Flush()
}

func show(streams genericiooptions.IOStreams) *cobra.Command {
	c, connection := newCommand(streams), connect.NewFlags()
	return c.named(&cobra.Command{
		Use:     "show [NAME]",
		Short:   "Show a profile (default: the current one)",
		Example: "  kubectl kinetic profile show\n  kubectl kinetic profile show prod -o json",
	}, 0, func(_ context.Context, name string) error { return c.show(cmp.Or(name, connection.Target.Profile)) }, c.outputSection(), connection.Section())
}

func (c *command) show(name string) error {
	file, err := config.ReadProfiles(c.env)
	if err != nil {
		return cli.Usage(err)
	}
	p, err := c.find(file, name)
	if err != nil {
		return cli.Usage(err)
	}
	if p.Name == "" {
		return cli.Usagef("there is no current profile: name one of `kubectl kinetic profile ls`, or choose one with `kubectl kinetic profile use`")
	}
	e := newEntry(p, file.Current)
	switch c.output {
	case "":
		table := ui.NewTable(c.streams.Out, 2)
		for _, row := range [][2]string{{"name", e.Name}, {"project", e.Project}, {"zone", e.Zone}, {"cluster", e.Cluster}, {"context", e.Context}, {"namespace", e.Namespace}, {"store", e.Store},
			{"image repo", e.ImageRepo}, {"base image", e.BaseImage}, {"base image repo", e.BaseImageRepo}, {"cpu", e.CPU}, {"memory", e.Memory}, {"pathways images", e.PathwaysImages}, {"keep warm", e.KeepWarm},
			{"cache size", e.CacheSize}, {"cache scope", e.CacheScope}} {
			table.Row(row[0], row[1])
		}
		return table.Flush()
	case nameFormat:
		_, err := fmt.Fprintln(c.streams.Out, e.Name)
		return err
	}
	return cli.Write(c.streams.Out, c.output, e)
}

// find returns a profile; without a name, the one that counts in this shell.
func (c *command) find(file config.ProfileFile, name string) (config.Profile, error) {
	if name == "" {
		p, _, err := config.ChosenProfile(file, config.Flags{}, c.env)
		return p, err
	}
	p, err := file.Find(name)
	if err != nil {
		return p, fmt.Errorf("profile %s: %w", name, err)
	}
	return p, nil
}

func (c *command) say(line string) { fmt.Fprintln(c.streams.ErrOut, ui.Clean(line)) }

// warnOfVariable says that the current profile is not the one that counts in this shell.
func (c *command) warnOfVariable(current string) {
	const variable = "KINETIC_PROFILE"
	if name := c.env(variable); name != "" && name != current {
		c.say("warning: " + variable + "=" + name + " in this shell overrides the current profile: `unset " + variable + "`")
	}
}
