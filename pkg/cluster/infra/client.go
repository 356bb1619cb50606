package infra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

const (
	// manager owns the fields that are applied.
	manager = "kubectl-kinetic"
	// retryFor is how long a request is repeated. The API server of a new cluster is not ready at once,
	// and refuses accounts that it doesn't know yet.
	retryFor = 2 * time.Minute
	// managedBy marks objects that are ours.
	managedBy = "app.kubernetes.io/managed-by"
)

// Cluster is the cluster that the objects are in.
type Cluster struct {
	// Connect returns how to reach the cluster. It is called when the cluster exists.
	Connect func(ctx context.Context) (*rest.Config, error)
	// Project names the project in advice.
	Project string

	mu     sync.Mutex
	client *apiserver.Client
	host   string
}

// Delete implements infra.Actor for what is within the cluster. It goes with that, and a removal leaves it out.
func (c *Cluster) Delete(context.Context) error {
	return errors.New("it is only deleted with its cluster")
}

// connected returns the client, a new one if the cluster has another address than before.
func (c *Cluster) connected(ctx context.Context) (*apiserver.Client, error) {
	config, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil || c.host != config.Host {
		c.host = config.Host
		c.client, err = apiserver.NewClient(config, nil)
	}
	return c.client, err
}

// get reads an object, nil if there is none.
func (c *Cluster) get(ctx context.Context, o object) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	err := c.request(ctx, "get", o, func(client *apiserver.Client) error { return client.Get(ctx, &found.Object, nil, o.path()) })
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// getAll reads several objects at once, nil for those that don't exist. Its error is that of one: those of
// others nearly always have the same reason.
func (c *Cluster) getAll(ctx context.Context, objects []object) ([]*unstructured.Unstructured, error) {
	found, failed := parallel.Collect(len(objects), objects, func(o object) (*unstructured.Unstructured, error) { return c.get(ctx, o) })
	return found, cmp.Or(failed...)
}

// apply creates an object, or sets the fields that are ours.
func (c *Cluster) apply(ctx context.Context, o object) error {
	return c.request(ctx, "patch", o, func(client *apiserver.Client) error { return client.Apply(ctx, manager, o.Object, o.path()) })
}

// applyAll applies objects. It skips existing ones unless replace is set.
func (c *Cluster) applyAll(ctx context.Context, objects []object, replace bool) error {
	found, err := c.getAll(ctx, objects)
	if err != nil {
		return err
	}
	for i, o := range objects {
		if found[i] != nil && !replace {
			continue
		}
		if err := c.apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// request makes a request about an object, again after errors that pass.
func (c *Cluster) request(ctx context.Context, verb string, o object, call func(*apiserver.Client) error) error {
	client, err := c.connected(ctx)
	if err != nil {
		return err
	}
	err = backoff.Retry(ctx, retryFor, passes, func() error { return call(client) })
	return c.explain(ctx, verb, o, err)
}

// passes reports whether the same request may succeed later. That goes for a connection that breaks,
// even the first one to a server, but not for one that can't be made.
func passes(err error) bool {
	lost := apiserver.Unanswered(err) && !transport.Dialing(err) && !transport.Untrusted(err)
	return lost || apiserver.Transient(err) || apierrors.IsUnauthorized(err) || apierrors.IsConflict(err)
}

func doing() map[string]string {
	return map[string]string{"get": "reading", "patch": "writing", "list": "listing"}
}

func (c *Cluster) explain(ctx context.Context, verb string, o object, err error) error {
	if err == nil || apierrors.IsNotFound(err) && verb != "patch" {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", doing()[verb], o, ctx.Err())
	}
	var status apierrors.APIStatus
	if apierrors.IsForbidden(err) && errors.As(err, &status) {
		why := strings.Join(strings.Fields(status.Status().Message), " ") // some have several lines
		next := fmt.Sprintf("gcloud projects add-iam-policy-binding %s --role=roles/container.admin --member=user:EMAIL", c.Project)
		return &transport.Explained{Cause: err, Of: api.KindForbidden, Do: next,
			Text: fmt.Sprintf("%s %s: %s; installing a cluster takes roles/container.admin: %s", doing()[verb], o, why, next)}
	}
	why := apiserver.Request{Verb: verb, Resource: o.kind().resource, Namespace: o.GetNamespace()}.Reason(err, retryFor)
	return &transport.Explained{Text: fmt.Sprintf("%s %s: %s", doing()[verb], o, why), Cause: err}
}
