package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// connect chooses a cluster that exists, saves it, and checks it.
func (s *setup) connect(ctx context.Context) error {
	where, err := s.place()
	if err != nil {
		return err
	}
	project := where.Project
	if s.asks && s.connection.Target.Project == "" {
		if project, err = s.askProject(ctx, project); err != nil {
			return err
		}
	}
	if project == "" {
		return s.connectElsewhere(ctx, where)
	}
	s.connection.Target.Project = project
	return s.connectGKE(ctx)
}

// askProject asks for the project, "" for a cluster that is not in Google Cloud.
func (s *setup) askProject(ctx context.Context, standard string) (string, error) {
	const none = "none"
	answer, err := cli.AskUntil(ctx, s.streams, "Google Cloud project (none for another cluster)", standard, func(answer string) error {
		if answer == none || answer == "" {
			return nil
		}
		if err := s.connection.Accept(answer, connect.Set(&s.connection.Target.Project)); err != nil {
			return err
		}
		if _, err := s.clusters(ctx); isNotFound(err) {
			s.connection.Target.Project = ""
			return err
		}
		return nil // without the right to list clusters, they are asked for
	})
	if answer == none {
		answer = ""
	}
	return answer, err
}

// ask asks for the value of a flag until it is one that a cluster can have.
func (s *setup) ask(ctx context.Context, what, standard string, set connect.Setter) error {
	_, err := cli.AskUntil(ctx, s.streams, what, standard, func(answer string) error { return s.connection.Accept(answer, set) })
	return err
}

// place returns what is in force.
func (s *setup) place() (target.Target, error) {
	where, err := s.connection.ResolveNewProfile()
	return where.Known(), cli.Usage(err)
}

func (s *setup) connectGKE(ctx context.Context) error {
	if s.asks && s.connection.Target.Cluster == "" {
		if err := s.askCluster(ctx); err != nil {
			return err
		}
	}
	where, err := s.place()
	if err != nil {
		return err
	}
	if !s.asks && (where.From.Zone == target.FromDefault || where.From.Cluster == target.FromDefault) {
		if err := s.onlyCluster(ctx, where); err != nil {
			return err
		}
		if where, err = s.place(); err != nil {
			return err
		}
	}
	if where.Zone == "" || where.Cluster == "" {
		return cli.Usagef("init connect: nothing says which cluster of project %s: use --zone and --cluster", where.Project)
	}
	found, err := s.find(ctx, where)
	if err != nil {
		return err
	}
	if where, err = s.askNamespace(ctx); err != nil {
		return err
	}
	p := profile.Profile{Name: cmp.Or(s.profile, where.Cluster), Project: where.Project, Zone: where.Zone, Cluster: where.Cluster, Namespace: where.Namespace}
	if where.From.Store == "--store" {
		p.Store = where.Store
	}
	if err := s.save(ctx, p); err != nil {
		return err
	}
	s.writeContext(ctx, where, found)
	return s.check(ctx)
}

// askCluster lets people choose one of the project's clusters, or asks for its name if they can't be
// listed.
func (s *setup) askCluster(ctx context.Context) error {
	t := &s.connection.Target
	clusters, err := s.clusters(ctx)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && len(clusters) == 0 {
		return noCluster(t.Project)
	}
	if err != nil {
		ui.New(s.streams.ErrOut, s.now.Now).Warn(err.Error())
		where, err := s.place()
		if err != nil {
			return err
		}
		if err := s.ask(ctx, "zone or region", where.Zone, connect.Set(&t.Zone)); err != nil {
			return err
		}
		return s.ask(ctx, "cluster", where.Cluster, connect.Set(&t.Cluster))
	}
	i, err := cli.Choose(ctx, s.streams, "Which cluster?", clusters, 0)
	if err != nil {
		return err
	}
	t.Cluster, t.Zone = clusters[i].Word, locationOf(clusters[i])
	return nil
}

// noCluster is the error for a project that has none.
func noCluster(project string) error {
	next := "kubectl kinetic init create --project " + project
	return &transport.Explained{Of: api.KindNotFound, Do: next, Text: fmt.Sprintf("project %s has no cluster: create one with: %s", project, next)}
}

// locationOf returns where a cluster is that list offers.
func locationOf(c cli.Choice) string {
	location, _, _ := strings.Cut(c.About, ",")
	return location
}

// onlyCluster takes the only cluster of the project that what was given allows: nobody is there to choose one.
func (s *setup) onlyCluster(ctx context.Context, where target.Target) error {
	t := &s.connection.Target
	clusters, err := s.clusters(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case disabled(err), isNotFound(err):
		return err
	case err != nil:
		return cli.Usagef("init connect: nothing says which cluster of project %s: use --zone and --cluster: %v", t.Project, err)
	case len(clusters) == 0:
		return noCluster(t.Project)
	}
	var fits []cli.Choice
	var names []string
	for _, c := range clusters {
		names = append(names, c.Word+" in "+locationOf(c))
		if (where.From.Cluster == target.FromDefault || c.Word == where.Cluster) && (where.From.Zone == target.FromDefault || locationOf(c) == where.Zone) {
			fits = append(fits, c)
		}
	}
	if len(fits) != 1 {
		return cli.Usagef("init connect: project %s has %s; choose one with --zone and --cluster", t.Project, strings.Join(names, ", "))
	}
	t.Cluster, t.Zone = fits[0].Word, locationOf(fits[0])
	return nil
}

// listing is what Google Cloud has answered about the clusters of a project.
type listing struct {
	project  string
	clusters []cli.Choice
	err      error
}

// clusters returns the clusters of the project. They are listed once for the questions about the project and its
// cluster, so that an unreachable Google Cloud is waited for once.
func (s *setup) clusters(ctx context.Context) ([]cli.Choice, error) {
	if project := s.connection.Target.Project; s.listed.project != project {
		clusters, err := s.list(ctx, project)
		s.listed = listing{project, clusters, err}
	}
	return s.listed.clusters, s.listed.err
}

func (s *setup) list(ctx context.Context, project string) ([]cli.Choice, error) {
	access, err := gcp.New(ctx, s.env)
	if err != nil {
		return nil, err
	}
	found, err := gke.Clusters(ctx, access, project)
	if err != nil {
		return nil, err
	}
	var choices []cli.Choice
	for _, c := range found {
		choices = append(choices, cli.Choice{Word: c.Name, About: fmt.Sprintf("%s, %s, version %s", c.Location, strings.ToLower(c.Status), c.CurrentMasterVersion)})
	}
	slices.SortFunc(choices, func(a, b cli.Choice) int { return cmp.Compare(a.Word+a.About, b.Word+b.About) })
	return choices, nil
}

// askNamespace asks for the namespace unless it is given, and returns what is in force.
func (s *setup) askNamespace(ctx context.Context) (target.Target, error) {
	where, err := s.place()
	if err != nil || !s.asks || strings.HasPrefix(where.From.Namespace, "--") {
		return where, err
	}
	if err := s.ask(ctx, "namespace", where.Namespace, s.connection.SetNamespace); err != nil {
		return where, err
	}
	return s.place()
}

// save writes a profile, and makes it the current one. One of that name for the same cluster keeps its
// images, and its store unless p has one. One for another cluster is replaced if someone agrees.
func (s *setup) save(ctx context.Context, p profile.Profile) error {
	if err := profile.CheckName(p.Name); err != nil {
		return cli.Usage(err)
	}
	file, err := profile.Read(s.env)
	if err != nil {
		return cli.Usage(err)
	}
	if old, err := file.Find(p.Name); err == nil {
		if old.Place() == p.Place() {
			p = p.Keep(old)
		} else if err := s.mayReplace(ctx, old); err != nil {
			return err
		}
	}
	err = profile.Change(ctx, s.env, func(d *profile.Draft) error {
		if err := d.Put(p); err != nil {
			return err
		}
		return d.Use(p.Name)
	})
	if err != nil {
		return err
	}
	text := fmt.Sprintf("profile %s: %s, namespace %s", p.Name, p.Place(), p.Namespace)
	if p.Store != "" {
		text += ", store " + p.Store
	}
	s.say(text + "; it is the current one")
	if other := s.env("KINETIC_PROFILE"); other != "" && other != p.Name {
		s.say("KINETIC_PROFILE=" + other + " takes precedence in this shell: unset it")
	}
	s.connection.Target.Profile = p.Name
	return nil
}

func (s *setup) mayReplace(ctx context.Context, old profile.Profile) error {
	what := fmt.Sprintf("profile %s is for %s", old.Name, old.Place())
	if !s.asks {
		return cli.Usagef("%s: choose another name with --profile-name", what)
	}
	return cli.Confirm(ctx, s.streams, what+" and would be replaced", "nothing was changed")
}

// connectElsewhere chooses a context of the kubeconfig and a store, saves them, and checks them.
func (s *setup) connectElsewhere(ctx context.Context, where target.Target) error {
	contexts, err := s.connection.Contexts()
	if err != nil {
		return cli.Usage(err)
	}
	if len(contexts) == 0 {
		return cli.Usage(target.ErrNoContext)
	}
	name := where.Context
	if s.asks && where.From.Context != "--context" {
		var choices []cli.Choice
		for _, c := range contexts {
			choices = append(choices, cli.Choice{Word: c})
		}
		i, err := cli.Choose(ctx, s.streams, "Which context of the kubeconfig?", choices, max(0, slices.Index(contexts, name)))
		if err != nil {
			return err
		}
		name = contexts[i]
	}
	if name == "" {
		return cli.Usage(target.ErrNoContext)
	}
	s.connection.SetContext(name)
	if where, err = s.askNamespace(ctx); err != nil {
		return err
	}
	if s.asks && s.connection.Target.Store == "" {
		if err := s.askStore(ctx, where.Store); err != nil {
			return err
		}
		if where, err = s.place(); err != nil {
			return err
		}
	}
	if where.Store == "" {
		return cli.Usage(errNoStore)
	}
	p := profile.Profile{Name: cmp.Or(s.profile, profileName(name), "cluster"), Context: name, Namespace: where.Namespace, Store: where.Store}
	if err := s.save(ctx, p); err != nil {
		return err
	}
	s.connection.SetContext("") // the profile has it
	s.connection.Target.Store = ""
	return s.check(ctx)
}

// askStore asks for the store of a cluster that is not in Google Cloud.
func (s *setup) askStore(ctx context.Context, standard string) error {
	_, err := cli.AskUntil(ctx, s.streams, "store (gs://BUCKET)", standard, func(answer string) error {
		if answer == "" {
			return errNoStore
		}
		return s.connection.Accept(answer, connect.Set(&s.connection.Target.Store))
	})
	return err
}

var errNoStore = errors.New("init connect: a cluster outside of Google Cloud needs a store: use --store gs://BUCKET, or --project for a cluster of GKE")

// profileName returns the name of a context as the name of a profile, which has letters, digits, - and _ alone.
func profileName(context string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, context)
	name = strings.TrimLeft(name, "-_")
	return strings.TrimRight(name[:min(len(name), longestName)], "-_")
}

// longestName is how many characters the name of a profile has at most.
const longestName = 64

// check runs doctor, and offers to create what is missing. The cluster stays chosen if something is wrong.
func (s *setup) check(ctx context.Context) error {
	fmt.Fprintln(s.streams.ErrOut)
	o, wrong := s.doctor(ctx)
	if wrong == nil || ctx.Err() != nil || !o.upHelps() {
		return wrong
	}
	if !s.asks {
		s.say("`kubectl kinetic up` creates what is missing")
		return wrong
	}
	s.say(wrong.Error())
	yes, err := cli.Ask(ctx, s.streams, "Create what is missing with `kubectl kinetic up`?")
	switch {
	case err != nil:
		return err
	case !yes:
		return cli.Exit(cli.ExitFailed)
	}
	return s.up(ctx)
}

// upHelps reports whether the last run has found something wrong that `up` creates.
func (o *options) upHelps() bool {
	return o != nil && o.google.Target.GKE && slices.ContainsFunc(o.results, func(r doctor.Result) bool {
		return r.State == doctor.Wrong && strings.Contains(r.Fix, "kubectl kinetic up")
	})
}

func (s *setup) say(line string) { ui.New(s.streams.ErrOut, s.now.Now).Note(line) }
