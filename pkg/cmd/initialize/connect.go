package initialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/doctor"
	profilecmd "github.com/kubectl-kinetic/kinetic/pkg/cmd/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// connect chooses a cluster that exists, saves it, adds it to the kubeconfig, and runs doctor.
func (s *setup) connect(ctx context.Context) error {
	if err := s.choose(ctx); err != nil {
		return err
	}
	where, err := profilecmd.Place(s.connection)
	switch {
	case err != nil:
	case s.yes:
		s.keep(where)
		where, err = profilecmd.Place(s.connection)
	default:
		where, err = profilecmd.Ask(ctx, s.streams, s.connection, s.keep) // what is left
	}
	if err != nil {
		return err
	}
	if err := profilecmd.Complete(where); err != nil {
		return err
	}
	p := s.profileOf(where)
	var found *container.Cluster
	if !profilecmd.Elsewhere(where) {
		if found, err = s.find(ctx, p); err != nil {
			return err
		}
	}
	if err := profilecmd.Save(ctx, s.streams, p); err != nil {
		return err
	}
	if found != nil && where.Context == "" {
		s.writeContext(ctx, p, found)
	}
	s.connection.SetContext("") // the profile has it
	s.connection.Target.Profile = p.Name
	fmt.Fprintln(s.streams.ErrOut)
	return doctor.Run(ctx, s.streams, s.now, s.connection)
}

// profileOf returns the profile that is written.
func (s *setup) profileOf(where config.Target) config.Profile {
	name := where.Cluster
	if profilecmd.Elsewhere(where) {
		name = profileName(where.Context)
	}
	return profilecmd.Of(cmp.Or(s.profile, name), where)
}

// keep takes the namespace, and outside GKE the store, from the profile that would be replaced, if it is for the same
// cluster, unless they are given.
func (s *setup) keep(where config.Target) {
	p := s.profileOf(where)
	known := profilecmd.Elsewhere(where) || profilecmd.Complete(where) == nil
	if t := &s.connection.Target; t.Profile == "" && known && (infra.Profile{Env: s.env, Wanted: p}).Same() {
		t.Profile = p.Name
	}
}

// profileName returns the name of a context as the name of a profile, which has other characters.
func profileName(context string) string {
	name := strings.Map(func(r rune) rune {
		if config.CheckProfileName("a"+string(r)) != nil {
			return '-'
		}
		return r
	}, context)
	name = strings.TrimLeft(name, "-_")
	return name[:min(len(name), 64)]
}

// choose asks for the project and the cluster, or for a context of the kubeconfig, unless they are given.
func (s *setup) choose(ctx context.Context) error {
	where, err := profilecmd.Place(s.connection)
	if err != nil || s.connection.Context() != "" {
		return err
	}
	t := &s.connection.Target
	if !s.yes && !profilecmd.Given(where.From.Project) {
		const none = "none"
		_, err := cli.AskUntil(ctx, s.streams, "Google Cloud project (none for another cluster)", where.Project, func(answer string) error {
			if answer == "" || answer == none {
				return nil
			}
			return s.connection.Accept(answer, &t.Project)
		})
		if err != nil {
			return err
		}
		if t.Project == "" {
			return s.chooseContext(ctx, where.Context)
		}
		if where, err = profilecmd.Place(s.connection); err != nil {
			return err
		}
	}
	unknown := !profilecmd.Given(where.From.Cluster)
	if s.yes {
		unknown = where.From.Cluster == config.FromDefault || where.From.Zone == config.FromDefault
	}
	if unknown && where.Project != "" && !profilecmd.Elsewhere(where) {
		return s.chooseCluster(ctx, where.Project)
	}
	return nil
}

func (s *setup) chooseContext(ctx context.Context, current string) error {
	contexts, err := s.connection.Contexts()
	if err == nil && len(contexts) == 0 {
		err = config.ErrNoContext
	}
	if err != nil {
		return cli.Usage(err)
	}
	i, err := cli.Choose(ctx, s.streams, "Which context of the kubeconfig?", contexts, max(0, slices.Index(contexts, current)))
	if err == nil {
		s.connection.SetContext(contexts[i])
	}
	return err
}

// chooseCluster lets people choose one of the project's clusters. With --yes, it names them in an error. If they
// can't be listed, it warns.
func (s *setup) chooseCluster(ctx context.Context, project string) error {
	access, err := gcp.New(ctx, s.env)
	var clusters []*container.Cluster
	if err == nil {
		clusters, err = gke.Clusters(ctx, access, project)
	}
	if err != nil {
		return s.warnUnlessFatal(ctx, err)
	}
	if len(clusters) == 0 {
		next := "kubectl kinetic init create --project " + project
		return &transport.Explained{Of: api.KindNotFound, Do: next, Text: fmt.Sprintf("project %s has no cluster: create one with: %s", project, next)}
	}
	slices.SortFunc(clusters, func(a, b *container.Cluster) int { return cmp.Compare(a.Name+" "+a.Location, b.Name+" "+b.Location) })
	var lines, places []string
	for _, c := range clusters {
		places = append(places, c.Name+" in "+c.Location)
		lines = append(lines, fmt.Sprintf("%s: %s, %s, version %s", c.Name, c.Location, strings.ToLower(c.Status), c.CurrentMasterVersion))
	}
	if s.yes {
		return cli.Usagef("init connect: project %s has %s; choose one with --zone and --cluster", project, strings.Join(places, ", "))
	}
	i, err := cli.Choose(ctx, s.streams, "Which cluster?", lines, 0)
	if err == nil {
		s.connection.Target.Cluster, s.connection.Target.Zone = clusters[i].Name, clusters[i].Location
	}
	return err
}

// warnUnlessFatal returns an error after which there is no cluster: the project or the API of GKE isn't there. Of others,
// such as missing rights, it warns.
func (s *setup) warnUnlessFatal(ctx context.Context, err error) error {
	var told *transport.Explained
	disabled, _ := gcp.DisabledAPI(err)
	if ctx.Err() != nil || disabled != "" || errors.As(err, &told) && told.Of == api.KindNotFound {
		return cmp.Or(ctx.Err(), err)
	}
	ui.New(s.streams.ErrOut, s.now.Now).Warn(err.Error())
	return nil
}

// find looks for the cluster in GKE. One that does not exist is an error. It returns nil if that can't be known.
func (s *setup) find(ctx context.Context, p config.Profile) (*container.Cluster, error) {
	cluster := gke.Cluster{Project: p.Project, Location: p.Zone, Name: p.Cluster}
	const within = 15 * time.Second // without a network, the profile is saved all the same
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	access, err := gcp.New(limited, s.env)
	var client *gke.Client
	if err == nil {
		client, err = gke.New(limited, access, cluster)
	}
	var found *container.Cluster
	if err == nil {
		found, err = client.Get(limited)
	}
	var missing *gke.NoClusterError
	switch {
	case err == nil:
		return found, nil
	case errors.As(err, &missing):
		next := "kubectl kinetic up" + cluster.Flags()
		return nil, &transport.Explained{Of: api.KindNotFound, Do: next, Text: fmt.Sprintf("%v: choose another with --zone and --cluster, or create it with: %s", missing, next)}
	}
	return nil, s.warnUnlessFatal(ctx, err)
}

// writeContext adds a cluster to the kubeconfig. If that is not possible, doctor has the command that does it.
func (s *setup) writeContext(ctx context.Context, p config.Profile, found *container.Cluster) {
	name := config.Names{Project: p.Project, Zone: p.Zone, Cluster: p.Cluster}.Context()
	entry := infra.Context{Access: s.connection.Kubeconfig(), Name: name, Find: func(context.Context) ([]infra.Server, error) {
		return google.Servers(found, false)
	}}
	have, err := entry.Get(ctx)
	if err == nil {
		err = entry.Ensure(ctx, have)
	}
	out := ui.New(s.streams.ErrOut, s.now.Now)
	if err != nil {
		out.Warn(err.Error())
		return
	}
	s.connection.Reload()
	out.Note("context " + name + ": added to the kubeconfig, whose current context stays as it is")
}
