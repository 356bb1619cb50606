package infra

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Namespace creates the namespace of the jobs.
type Namespace struct {
	*Cluster
	Name string
}

func (n Namespace) object() object { return named("v1", "Namespace", "", n.Name) }

// Get implements infra.Actor.
func (n Namespace) Get(ctx context.Context) (State, error) {
	found, err := n.get(ctx, n.object())
	if err != nil || found == nil {
		return State{}, err
	}
	if found.GetDeletionTimestamp() != nil {
		return State{}, fmt.Errorf("reading %s: it is being deleted: wait until it is gone, or choose another with --namespace", n.object())
	}
	return State{Exists: true}, nil
}

// Ensure implements infra.Actor.
func (n Namespace) Ensure(ctx context.Context, _ State) error {
	return n.apply(ctx, n.object())
}

// WorkloadIdentity is the annotation of a service account with the Google account that it acts as.
const WorkloadIdentity = "iam.gke.io/gcp-service-account"

// ServiceAccount creates the service account of the jobs' pods.
type ServiceAccount struct {
	*Cluster
	Namespace string
	// Account is the Google account that the pods act as. Others are accounts that they may act as
	// already: that of the nodes, where the Python package bound it.
	Account string
	Others  []string
}

func (s ServiceAccount) object() (object, error) {
	all, err := namespaced(s.Namespace, "ServiceAccount")
	if err != nil {
		return object{}, err
	}
	if len(all) == 0 {
		return object{}, errors.New("manifests/rbac has no service account")
	}
	all[0].SetAnnotations(map[string]string{WorkloadIdentity: s.Account})
	return all[0], nil
}

// Get implements infra.Actor.
func (s ServiceAccount) Get(ctx context.Context) (State, error) {
	o, err := s.object()
	if err != nil {
		return State{}, err
	}
	found, err := s.get(ctx, o)
	if err != nil || found == nil {
		return State{Detail: "acts as " + s.Account}, err
	}
	have := found.GetAnnotations()[WorkloadIdentity]
	state := State{Exists: true, Detail: "acts as " + have}
	switch {
	case have == s.Account || slices.Contains(s.Others, have):
	case have == "":
		state.Missing = []string{"the annotation " + WorkloadIdentity}
	default:
		state.Differences = []Difference{{Setting: "annotation " + WorkloadIdentity, Have: have, Want: s.Account}}
	}
	return state, nil
}

// Ensure implements infra.Actor.
func (s ServiceAccount) Ensure(ctx context.Context, _ State) error {
	o, err := s.object()
	if err != nil {
		return err
	}
	return s.apply(ctx, o)
}
