package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
)

const longCreate = `Create a profile. What no flag and no variable says is asked for at a terminal;
elsewhere it is what is in force: of the kubeconfig's context, or of gcloud's
configuration. --profile takes it from another profile instead, and --force from the
profile that it replaces, unless --context names a cluster. --store becomes a part of
it.

A cluster outside GKE has no project, zone and name. Its profile has the context of
the kubeconfig, and a store.

The first profile becomes the current one.`

// creation is the command `profile create`.
type creation struct {
	*command
	connection *connect.Flags
	images     profile.Profile // its fields about images
	old        profile.Profile // the one that --force replaces, zero if there is none
	force      bool
	yes        bool
}

func create(streams genericiooptions.IOStreams) *cobra.Command {
	c := &creation{command: newCommand(streams), connection: connect.NewFlags()}
	own := c.outputSection()
	fs := own.Flags
	fs.StringVar(&c.images.ImageRepo, "image-repo", "", "Jobs put images into `REPOSITORY`, as with the flag of `run`.")
	fs.StringVar(&c.images.BaseImage, "base-image", "", "Jobs install packages on the image `URI`, as with the flag of `run`.")
	fs.StringVar(&c.images.BaseImageRepo, "base-image-repo", "", "Jobs use the images that build-image made in `REPOSITORY`.")
	fs.BoolVar(&c.force, "force", false, "Replace the profile of that name; what is not given stays as it is there.")
	fs.BoolVarP(&c.yes, "yes", "y", false, "Don't prompt: use the current settings.")
	return c.named(&cobra.Command{
		Use:               "create [NAME] [flags]",
		Short:             "Create a profile",
		Long:              longCreate,
		Example:           examples,
		ValidArgsFunction: cobra.NoFileCompletions,
	}, 0, c.create, own, c.connection.Section())
}

func (c *creation) create(ctx context.Context, name string) error {
	asks := !c.yes && cli.CannotAsk(c.streams) == ""
	if c.images.BaseImage != "" && c.images.BaseImageRepo != "" {
		return cli.Usagef("--base-image and --base-image-repo: use one of them")
	}
	file, err := profile.Read(c.env)
	if err != nil {
		return cli.Usage(err)
	}
	if asks && c.force && name == "" { // the answers that are offered depend on it
		name, err = c.askName(ctx, file, "")
	} else if name != "" {
		err = cli.Usage(c.checkName(file, name))
	}
	if err != nil {
		return err
	}
	where, err := c.place()
	if err != nil {
		return err
	}
	if asks {
		if where, err = c.ask(ctx, where); err != nil {
			return err
		}
		if name == "" {
			if name, err = c.askName(ctx, file, where.Cluster); err != nil {
				return err
			}
		}
	}
	if name == "" {
		return cli.Usagef("profile create: expected the name of the profile, as in `kubectl kinetic profile create %s`", where.Cluster)
	}
	if err := complete(where); err != nil {
		return err
	}
	return c.write(ctx, name, where)
}

// askName asks for the name of the profile until it may be created.
func (c *creation) askName(ctx context.Context, file profile.File, standard string) (string, error) {
	return cli.AskUntil(ctx, c.streams, "name of the profile", standard, func(answer string) error {
		if answer == "" {
			return errors.New("a profile needs a name")
		}
		return c.checkName(file, answer)
	})
}

// checkName finds a wrong name before other questions are asked, and the profile that --force replaces.
func (c *creation) checkName(file profile.File, name string) error {
	if err := profile.CheckName(name); err != nil {
		return err
	}
	old, err := file.Find(name)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	if !c.force {
		return fmt.Errorf("profile %s: %w", name, errExists)
	}
	c.startFrom(old)
	return nil
}

// startFrom takes what is not given from a profile, unless flags name another profile or a context.
func (c *creation) startFrom(old profile.Profile) {
	if c.connection.Target.Profile == "" && c.connection.Context() == "" {
		c.old, c.connection.Target.Profile = old, old.Name
	}
}

// errExists is the error for the name of an existing profile.
var errExists = fmt.Errorf("a profile of that name exists: use --force to replace it")

// place returns what is in force.
func (c *creation) place() (target.Target, error) {
	where, err := c.connection.ResolveNewProfile()
	return where.Known(), cli.Usage(err)
}

// question asks for a value whose origin is known.
type question struct {
	what, value, from string
	into              *string
}

// ask asks for what no flag and no variable says.
func (c *creation) ask(ctx context.Context, where target.Target) (target.Target, error) {
	t := &c.connection.Target
	questions := []question{
		{"project", where.Project, where.From.Project, &t.Project},
		{"zone or region", where.Zone, where.From.Zone, &t.Zone},
		{"cluster", where.Cluster, where.From.Cluster, &t.Cluster},
	}
	if elsewhere(where) {
		questions = []question{{"store (gs://BUCKET)", where.Store, where.From.Store, &t.Store}}
	}
	for _, q := range questions {
		if given(q.from) {
			continue
		}
		if err := c.askUntil(ctx, q.what, q.value, connect.Set(q.into)); err != nil {
			return where, err
		}
	}
	where, err := c.place()
	if err != nil || given(where.From.Namespace) {
		return where, err
	}
	if err := c.askUntil(ctx, "namespace", where.Namespace, c.connection.SetNamespace); err != nil {
		return where, err
	}
	return c.place()
}

// askUntil asks for a value until it is one that a profile can have.
func (c *creation) askUntil(ctx context.Context, what, standard string, set connect.Setter) error {
	_, err := cli.AskUntil(ctx, c.streams, what, standard, func(answer string) error {
		if answer == "" {
			return errors.New("a profile needs a " + what)
		}
		return c.connection.Accept(answer, set)
	})
	return err
}

// given reports whether a value is that of a flag or a variable of ours.
func given(from string) bool {
	return strings.HasPrefix(from, "--") || strings.HasPrefix(from, "KINETIC_")
}

// elsewhere reports whether a place is a cluster outside GKE.
func elsewhere(where target.Target) bool { return where.Context != "" && !where.GKE }

// complete rejects a profile of a cluster that is not known.
func complete(where target.Target) error {
	if elsewhere(where) {
		if where.Store == "" {
			return cli.Usagef("profile create: the cluster of context %s is not one of GKE, so nothing says where its jobs are stored: set --store gs://BUCKET; "+
				"or name a cluster of GKE with --project, --zone and --cluster", where.Context)
		}
		return nil
	}
	var missing []string
	for _, f := range []struct{ flag, value, from string }{
		{"--project", where.Project, where.From.Project}, {"--zone", where.Zone, where.From.Zone}, {"--cluster", where.Cluster, where.From.Cluster},
	} {
		if f.value == "" || f.from == target.FromDefault {
			missing = append(missing, f.flag)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return cli.Usagef("profile create: a profile has a project, a zone and a cluster, and nothing says which: set %s", listed(missing))
}

// listed joins words as in a sentence.
func listed(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// profile returns the profile of a place.
func (c *creation) profile(name string, where target.Target) profile.Profile {
	p := c.images
	p.Name, p.Project, p.Zone, p.Cluster, p.Namespace = name, where.Project, where.Zone, where.Cluster, where.Namespace
	p.ImageRepo = cmp.Or(p.ImageRepo, where.ImageRepo, c.old.ImageRepo) // of --profile
	if p.BaseImage == "" && p.BaseImageRepo == "" {
		p.BaseImage, p.BaseImageRepo = cmp.Or(where.BaseImage, c.old.BaseImage), cmp.Or(where.BaseImageRepo, c.old.BaseImageRepo)
	}
	p.Store = c.old.Store // also if it is for another cluster now: nobody typed another store
	if where.From.Store == "--store" || strings.HasPrefix(where.From.Store, "profile ") {
		p.Store = where.Store
	}
	if elsewhere(where) {
		p.Zone, p.Cluster, p.Context, p.Store = "", "", where.Context, where.Store
	}
	return p
}

func (c *creation) write(ctx context.Context, name string, where target.Target) error {
	p := c.profile(name, where)
	var current string
	err := c.change(ctx, func(d *profile.Draft) error {
		if _, err := d.Find(name); err == nil && !c.force {
			return fmt.Errorf("profile %s: %w", name, errExists)
		}
		err := d.Put(p)
		current = d.Current
		return err
	})
	if err != nil {
		return err
	}
	line := fmt.Sprintf("profile %s: %s, namespace %s", name, p.Place(), p.Namespace)
	switch current {
	case name:
		c.say(line + "; it is the current one")
		c.warnOfVariable(name)
	default:
		c.say(line + "; `kubectl kinetic profile use " + name + "` makes it the current one")
	}
	switch c.output {
	case "":
		return nil
	case nameFormat:
		_, err := fmt.Fprintln(c.streams.Out, name)
		return err
	}
	return cli.Write(c.streams.Out, c.output, newEntry(p, current))
}
