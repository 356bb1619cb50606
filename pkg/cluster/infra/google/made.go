package google

import (
	"context"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// mark is the end of the descriptions of what `up` makes.
const mark = "made by kubectl kinetic up"

// The label of what the Python package makes, where it labels something.
const (
	pythonLabel = "goog-packaged-solution"
	pythonValue = "kinetic"
)

// Labelled reports whether `up` or the Python package has made what has these labels. The label kinetic
// alone says nothing: anyone may choose that name.
func Labelled(labels map[string]string) bool {
	return labels[gke.LabelManagedBy] == gke.ResourceLabels()[gke.LabelManagedBy] || byPython(labels)
}

// made reports whether `up` has made what has a description. The Python package writes none: if it has
// created the cluster or, where that is gone or `up`'s, the repository, everything without one counts as made by it.
func (p *Project) made(ctx context.Context, description string) (bool, error) {
	if description != "" {
		return strings.HasSuffix(description, mark), nil
	}
	cluster := p.Cluster(Settings{})
	found, err := cluster.Read(ctx)
	if err != nil || found != nil && byPython(found.ResourceLabels) {
		return err == nil, err
	}
	if cluster.Maker() == Someone {
		return false, nil
	}
	images, err := p.readRepository(ctx)
	return images != nil && byPython(images.Labels), err
}

// described returns the state of what was read, or could not be, with err. Its description says who has made it.
func (p *Project) described(ctx context.Context, id infra.ID, err error, description func() string) (infra.State, error) {
	switch {
	case p.absent(ctx, err):
		return infra.State{}, nil
	case err != nil:
		return infra.State{}, p.explain(err, "reading", id)
	}
	ours, err := p.made(ctx, description())
	return p.existing(id, ours), err
}

// existing returns the state of what exists, with the command that deletes it if `up` has not made it.
func (p *Project) existing(id infra.ID, ours bool) infra.State {
	s := infra.State{Exists: true, Foreign: !ours}
	if ours {
		return s
	}
	n := p.Names
	of := "--project=" + n.Project
	switch id.Kind {
	case infra.KindAccount:
		s.Deletion = "gcloud iam service-accounts delete " + n.Address(id.Name) + " " + of
	case infra.KindRepository:
		s.Deletion = "gcloud artifacts repositories delete " + id.Name + " --location=" + n.Images() + " " + of
	case infra.KindBucket:
		s.Deletion = "gcloud storage rm --recursive gs://" + id.Name
	case infra.KindNetwork:
		s.Deletion = "gcloud compute networks delete " + id.Name + " " + of
	case infra.KindRouter:
		s.Deletion = "gcloud compute routers delete " + id.Name + " --region=" + n.Region() + " " + of
	case infra.KindCluster:
		s.Deletion = "gcloud container clusters delete " + id.Name + " --location=" + n.Zone + " " + of
	}
	return s
}

// byPython reports whether the Python package has made what has these labels, also a cluster that `up` took
// over.
func byPython(labels map[string]string) bool { return labels[pythonLabel] == pythonValue }
