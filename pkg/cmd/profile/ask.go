package profile

import (
	"context"
	"errors"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// Place returns what is in force for a new profile.
func Place(connection *connect.Flags) (config.Target, error) {
	where, err := connection.ResolveNewProfile()
	return where.Known(), cli.Usage(err)
}

// Question asks for the value of a flag, which is a field of connect.Flags.
type Question struct {
	What string
	// Value is what is in force, and From where it is from.
	Value, From string
	Flag        *string
}

// Ask asks for the values of a new profile that no flag or variable sets, and returns the settings then. placed, which
// may be nil, is called once the cluster is known: outside GKE, that is before the store is asked for.
func Ask(ctx context.Context, streams genericiooptions.IOStreams, connection *connect.Flags, placed func(config.Target)) (config.Target, error) {
	where, err := Place(connection)
	if err == nil && placed != nil && Elsewhere(where) {
		placed(where)
		where, err = Place(connection)
	}
	if err != nil {
		return where, err
	}
	t := &connection.Target
	questions := []Question{
		{"project", where.Project, where.From.Project, &t.Project},
		{"zone or region", where.Zone, where.From.Zone, &t.Zone},
		{"cluster", where.Cluster, where.From.Cluster, &t.Cluster},
	}
	if Elsewhere(where) {
		questions = []Question{{"store (gs://BUCKET)", where.Store, where.From.Store, &t.Store}}
	}
	if err := AskFor(ctx, streams, connection, questions...); err != nil {
		return where, err
	}
	if where, err = Place(connection); err == nil && placed != nil { // a context or a profile may have a namespace
		placed(where)
		where, err = Place(connection)
	}
	if err != nil {
		return where, err
	}
	if err := AskFor(ctx, streams, connection, Question{"namespace", where.Namespace, where.From.Namespace, connection.NamespaceFlag()}); err != nil {
		return where, err
	}
	return Place(connection)
}

// AskFor asks questions that no flag and no variable answers, each until the answer is one that a profile can have.
func AskFor(ctx context.Context, streams genericiooptions.IOStreams, connection *connect.Flags, questions ...Question) error {
	for _, q := range questions {
		if Given(q.From) {
			continue
		}
		_, err := cli.AskUntil(ctx, streams, q.What, q.Value, func(answer string) error {
			if answer == "" {
				return errors.New("expected a " + q.What)
			}
			return connection.Accept(answer, q.Flag)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Given reports whether a flag or a KINETIC_ variable sets a value.
func Given(from string) bool {
	return strings.HasPrefix(from, "--") || strings.HasPrefix(from, "KINETIC_")
}

// Elsewhere reports whether a place is a cluster outside GKE.
func Elsewhere(where config.Target) bool { return where.Context != "" && !where.GKE }

// Complete rejects a place whose cluster or store is not known.
func Complete(where config.Target) error {
	if Elsewhere(where) {
		if where.Store == "" {
			return cli.Usagef("the cluster of context %s is not one of GKE, so it needs a store for its jobs: set --store gs://BUCKET; "+
				"or name a cluster of GKE with --project, --zone and --cluster", where.Context)
		}
		return nil
	}
	var missing []string
	for _, f := range []struct{ flag, value, from string }{
		{"--project", where.Project, where.From.Project}, {"--zone", where.Zone, where.From.Zone}, {"--cluster", where.Cluster, where.From.Cluster},
	} {
		if f.value == "" || f.from == config.FromDefault {
			missing = append(missing, f.flag)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return cli.Usagef("a profile needs a project, a zone and a cluster: set %s", strings.Join(missing, ", "))
}

// Of returns the profile of a place.
func Of(name string, where config.Target) config.Profile {
	p := config.Profile{Name: name, Project: where.Project, Zone: where.Zone, Cluster: where.Cluster, Namespace: where.Namespace}
	if where.From.Store == "--store" || strings.HasPrefix(where.From.Store, "profile ") {
		p.Store = where.Store
	}
	if Elsewhere(where) {
		p.Zone, p.Cluster, p.Context, p.Store = "", "", where.Context, where.Store
	}
	return p
}
