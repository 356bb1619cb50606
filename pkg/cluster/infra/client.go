package infra

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
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
	client rest.Interface
	host   string
}

// Delete implements infra.Actor for what is within the cluster: it goes with that.
func (c *Cluster) Delete(context.Context) error { return nil }

// connected returns the client, a new one if the cluster has another address than before.
func (c *Cluster) connected(ctx context.Context) (rest.Interface, error) {
	config, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil && c.host == config.Host {
		return c.client, nil
	}
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // for the server's errors
	_, config = apiserver.Monitored(config, nil)
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.QPS = -1 // the server does its own throttling
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	if c.client, err = rest.UnversionedRESTClientForConfigAndClient(config, http); err != nil {
		return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	c.host = config.Host
	return c.client, nil
}

// get reads an object, nil if there is none.
func (c *Cluster) get(ctx context.Context, o object) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	err := c.request(ctx, "get", o, func(client rest.Interface) error {
		text, err := body(client.Get().AbsPath(o.path()).SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx))
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &found.Object)
	})
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
	text, err := json.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("writing %s as JSON: %w", o, err)
	}
	return c.request(ctx, "patch", o, func(client rest.Interface) error {
		_, err := body(client.Patch(types.ApplyPatchType).AbsPath(o.path()).Param("fieldManager", manager).Param("force", "true").Body(text).Do(ctx))
		return err
	})
}

// body returns the body of an answer. Raw does not read the server's reason.
func body(r rest.Result) ([]byte, error) {
	if err := r.Error(); err != nil {
		return nil, err
	}
	return r.Raw()
}

// request makes a request about an object, again after errors that pass.
func (c *Cluster) request(ctx context.Context, verb string, o object, call func(rest.Interface) error) error {
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
