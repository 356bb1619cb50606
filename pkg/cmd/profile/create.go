package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/amount"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

const longCreate = `Create a profile from flags and variables. For settings that neither gives, it prompts
on a terminal; otherwise it uses the current ones, from the kubeconfig's context or
gcloud's configuration. --profile takes them from another profile instead, and --force
from the profile that it replaces, unless --context names a cluster. --store is saved in
the profile.

A cluster outside GKE has no project, zone and name. Its profile has the context of
the kubeconfig, and a store.

The first profile becomes the current one.`

type creation struct {
	*command
	connection *connect.Flags
	images     config.Profile // its fields about images and requests
	old        config.Profile // the one that --force replaces, zero if there is none
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
	fs.StringVar(&c.images.CPU, "cpu", "", "Jobs request `QUANTITY` CPUs per host, as with the flag of `run`.")
	fs.StringVar(&c.images.Memory, "memory", "", "Jobs request `QUANTITY` of memory per host, as with the flag of `run`.")
	fs.StringVar(&c.images.PathwaysImages, "pathways-images", "", "Jobs take the images of the Pathways runtime from `REPOSITORY`, as with the flag of `run`.")
	fs.StringVar(&c.images.KeepWarm, "keep-warm", "", "Jobs keep their pods for `DURATION` after a call, as with the flag of `run`.")
	own.Offer("keep-warm", cli.KeepWarmExamples()...)
	fs.StringVar(&c.images.CacheSize, "cache-size", "", "Jobs keep a compilation cache of at most `SIZE`, as with the flag of `run`.")
	fs.StringVar(&c.images.CacheScope, "cache-scope", "", "Share the compilation cache among `user|shared`: the jobs of one user (the default), or of all users whose profile has shared.")
	own.Offer("cache-scope", config.CacheScopes()...)
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
	if err := c.check(); err != nil {
		return cli.Usage(err)
	}
	file, err := config.ReadProfiles(c.env)
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
	where, err := Place(c.connection)
	if err != nil {
		return err
	}
	if asks {
		if where, err = Ask(ctx, c.streams, c.connection, nil); err != nil {
			return err
		}
		if name == "" {
			if name, err = c.askName(ctx, file, where.Cluster); err != nil {
				return err
			}
		}
	}
	if name == "" {
		return cli.Usagef("profile create: expected the name of the profile, as in `kubectl kinetic profile create %s`", cmp.Or(where.Cluster, "NAME"))
	}
	if err := Complete(where); err != nil {
		return err
	}
	return c.write(ctx, name, where)
}

// check rejects values of flags that `run` would reject.
func (c *creation) check() error {
	p := c.images
	if p.BaseImage != "" && p.BaseImageRepo != "" {
		return errors.New("--base-image and --base-image-repo: use one of them")
	}
	_, err := amount.Cache("--cache-size", p.CacheSize)
	errs := []error{
		amount.Positive("--cpu", p.CPU), amount.Size("--memory", p.Memory), err,
		image.CheckRepository("--image-repo", p.ImageRepo), image.CheckBase("--base-image", p.BaseImage),
		image.CheckRepository("--base-image-repo", p.BaseImageRepo),
	}
	if !image.IsPathwaysRepository(p.PathwaysImages) {
		errs = append(errs, fmt.Errorf("--pathways-images %q: expected a repository, as in %s", p.PathwaysImages, image.PathwaysRepository))
	}
	if p.CacheScope != "" {
		errs = append(errs, cli.OneOf("--cache-scope", p.CacheScope, config.CacheScopes()))
	}
	if p.KeepWarm != "" {
		errs = append(errs, cli.ReadKeepWarm(&api.KeepWarm{}, "--keep-warm", p.KeepWarm))
	}
	return errors.Join(errs...)
}

// askName asks for the name of the profile until it may be created.
func (c *creation) askName(ctx context.Context, file config.ProfileFile, standard string) (string, error) {
	return cli.AskUntil(ctx, c.streams, "name of the profile", standard, func(answer string) error {
		if answer == "" {
			return errors.New("a profile needs a name")
		}
		return c.checkName(file, answer)
	})
}

// checkName finds a wrong name before other questions are asked, and the profile that --force replaces.
func (c *creation) checkName(file config.ProfileFile, name string) error {
	if err := config.CheckProfileName(name); err != nil {
		return err
	}
	old, err := file.Find(name)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	if !c.force {
		return exists(name)
	}
	// What is not given is taken from there, unless flags name another profile or a context.
	if c.connection.Target.Profile == "" && c.connection.Context() == "" {
		c.old, c.connection.Target.Profile = old, old.Name
	}
	return nil
}

func exists(name string) error {
	return fmt.Errorf("profile %s: a profile of that name exists: use --force to replace it", name)
}

func (c *creation) profile(name string, where config.Target) config.Profile {
	p := Of(name, where)
	// The store stays also if the profile is for another cluster now: nobody typed another store.
	p.Store = cmp.Or(p.Store, c.old.Store)
	p.ImageRepo = cmp.Or(c.images.ImageRepo, where.ImageRepo, c.old.ImageRepo) // of --profile
	p.BaseImage, p.BaseImageRepo = c.images.BaseImage, c.images.BaseImageRepo
	if p.BaseImage == "" && p.BaseImageRepo == "" {
		p.BaseImage, p.BaseImageRepo = cmp.Or(where.BaseImage, c.old.BaseImage), cmp.Or(where.BaseImageRepo, c.old.BaseImageRepo)
	}
	p.CPU, p.Memory = cmp.Or(c.images.CPU, where.CPU, c.old.CPU), cmp.Or(c.images.Memory, where.Memory, c.old.Memory)
	p.PathwaysImages = cmp.Or(c.images.PathwaysImages, where.PathwaysImages, c.old.PathwaysImages)
	p.KeepWarm = cmp.Or(c.images.KeepWarm, where.KeepWarm, c.old.KeepWarm)
	p.CacheSize = cmp.Or(c.images.CacheSize, where.CacheSize, c.old.CacheSize)
	p.CacheScope = cmp.Or(c.images.CacheScope, where.CacheScope, c.old.CacheScope)
	return p
}

func (c *creation) write(ctx context.Context, name string, where config.Target) error {
	p := c.profile(name, where)
	var current string
	err := c.change(ctx, func(d *config.ProfileDraft) error {
		if _, err := d.Find(name); err == nil && !c.force {
			return exists(name)
		}
		err := d.Put(p)
		current = d.Current
		return err
	})
	if err != nil {
		return err
	}
	if current == name {
		c.sayCurrent(p)
	} else {
		c.say(describe(p) + "; `kubectl kinetic profile use " + name + "` makes it the current one")
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

// Save writes a profile and makes it the current one. One of that name for the same cluster keeps its images,
// and its store unless p has one. One for another cluster is not replaced.
func Save(ctx context.Context, streams genericiooptions.IOStreams, p config.Profile) error {
	c := newCommand(streams)
	if err := usage(ctx, infra.Profile{Env: c.env, Wanted: p}.Ensure(ctx, infra.State{})); err != nil {
		return err
	}
	c.sayCurrent(p)
	return nil
}

func (c *command) sayCurrent(p config.Profile) {
	c.say(describe(p) + "; it is the current one")
	c.warnOfVariable(p.Name)
}

func describe(p config.Profile) string {
	return fmt.Sprintf("profile %s: %s, namespace %s", p.Name, p.Place(), p.Namespace)
}
