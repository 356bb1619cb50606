package kube

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/itemlist"
	"github.com/kubectl-kinetic/kinetic/pkg/kueue"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

// Client talks to one cluster, about one namespace. It knows the four API groups
// that jobs need; the typed clients of client-go register all of them, which
// every start would pay for.
type Client struct {
	core rest.Interface
	// versions are the clients of the other API groups that jobs need.
	versions map[schema.GroupVersion]rest.Interface

	namespace string
	codec     runtime.ParameterCodec
	decoder   runtime.Decoder
	// transport knows whether the server can be reached, and its time.
	transport *transport.Monitor
}

// NewClient contacts nothing. An empty namespace means all of them, for listing.
// tell, which may be nil, gets a line when the API server keeps us waiting.
func NewClient(config *rest.Config, namespace string, tell func(string)) (*Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, metav1.AddMetaToScheme, kueue.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("preparing a client: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	groups := []schema.GroupVersion{kueue.Version, kueue.NewerVersion}
	for _, k := range status.Kinds {
		metav1.AddToGroupVersion(scheme, k.GroupVersion())
		groups = append(groups, k.GroupVersion())
	}
	way, config := apiserver.Monitored(config, tell)
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	c := &Client{namespace: namespace, codec: runtime.NewParameterCodec(scheme), transport: way, versions: map[schema.GroupVersion]rest.Interface{}}
	factory := serializer.NewCodecFactory(scheme)
	c.decoder = factory.UniversalDeserializer()
	codecs := factory.WithoutConversion()
	clientFor := func(gv schema.GroupVersion, path string) (rest.Interface, error) {
		own := rest.CopyConfig(config)
		own.GroupVersion, own.APIPath, own.NegotiatedSerializer = &gv, path, codecs
		// Thousands of jobs are read ten times as fast as from JSON.
		own.ContentType, own.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
		return rest.RESTClientForConfigAndClient(own, http)
	}
	if c.core, err = clientFor(corev1.SchemeGroupVersion, "/api"); err != nil {
		return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	for _, group := range groups {
		if c.versions[group], err = clientFor(group, "/apis"); err != nil {
			return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
		}
	}
	return c, nil
}

// kind is one kind of object, with the client that knows its group.
type kind struct {
	client   rest.Interface
	newer    rest.Interface // where the server no longer has that version; may be nil
	resource string         // plural, as in URLs
	// metadata is all that is read of the objects.
	metadata bool
	// rare kinds are those that a cluster may not have.
	rare bool
	// workload is the kind of workload that it is, nil for other objects.
	workload *status.Kind
}

// The resources of objects that are no workloads.
const (
	podResource   = "pods"
	eventResource = "events"
	kueueResource = "workloads"
)

func (c *Client) pods() kind   { return kind{client: c.core, resource: podResource} }
func (c *Client) events() kind { return kind{client: c.core, resource: eventResource} }
func (c *Client) jobs() kind   { return c.workloads(status.Job) }

// workloads are those of a kind. Of a kind that a cluster may not have no more than the
// metadata is read, so that its types need not be known.
func (c *Client) workloads(k *status.Kind) kind {
	return kind{client: c.versions[k.GroupVersion()], resource: k.Plural, metadata: k.Optional, rare: k.Optional, workload: k}
}

// kueueWorkloads are the Workloads of Kueue.
func (c *Client) kueueWorkloads() kind {
	return kind{client: c.versions[kueue.Version], newer: c.versions[kueue.NewerVersion], resource: kueueResource, rare: true}
}

// collection is where the objects of the kind are.
func (k kind) collection() collection { return collection{k.client.APIVersion(), k.resource} }

// isPart reports whether a job can be described without objects of the kind.
func (k kind) isPart() bool { return k.resource == eventResource || k.rare }

// lacks reports whether an error means that nothing of a kind can be read here: a cluster may not
// have LeaderWorkerSets or Kueue, and not everybody may read those, or events.
func (k kind) lacks(err error) bool {
	return k.isPart() && apierrors.IsForbidden(err) || k.rare && apierrors.IsNotFound(err)
}

// none is all there is of a kind that is lacking. What says why a job waits may be
// left out without a word, but not the job itself.
func (c *Client) none(k kind, lacking error) change {
	ch := change{kind: k, reset: true, lacks: true}
	if k.workload != nil && apierrors.IsForbidden(lacking) {
		ch.denied = lacking
	}
	return ch
}

// reading is a request that gets objects of the kind.
func (c *Client) reading(k kind, answer string, o *metav1.ListOptions) *rest.Request {
	r := k.client.Get().NamespaceIfScoped(c.namespace, c.namespace != "").Resource(k.resource).VersionedParams(o, c.codec)
	if k.metadata {
		as := ";as=" + answer + ";g=meta.k8s.io;v=v1"
		r.SetHeader("Accept", runtime.ContentTypeProtobuf+as, runtime.ContentTypeJSON+as)
	}
	return r
}

// list reads all objects of a kind that the options choose.
func (c *Client) list(ctx context.Context, k kind, o metav1.ListOptions, into runtime.Object) error {
	err := c.reading(k, "PartialObjectMetadataList", &o).Do(ctx).Into(into)
	return c.explain("list", k, "", err)
}

// listEach is list for many objects: it calls each with one after the other. list is an
// empty one of the kind.
func (c *Client) listEach(ctx context.Context, k kind, o metav1.ListOptions, list runtime.Object, detail itemlist.Detail, each func(runtime.Object)) (metav1.ListInterface, error) {
	body, err := c.reading(k, "PartialObjectMetadataList", &o).Stream(ctx)
	if err != nil {
		return nil, c.explain("list", k, "", err)
	}
	defer body.Close()
	about, err := itemlist.Read(body, c.decoder, list, detail, each)
	return about, c.explain("list", k, "", err)
}

// missingNamespace is an error where a namespace doesn't exist, of which the API
// server lists nothing as of any empty one. Who may not look is not told.
func (c *Client) missingNamespace(ctx context.Context) error {
	if c.namespace == "" {
		return nil
	}
	err := c.core.Get().Resource("namespaces").Name(c.namespace).Do(ctx).Error()
	if !apierrors.IsNotFound(err) {
		return nil
	}
	return c.explain("list", c.jobs(), "", err)
}

// now is the time by the API server's clock.
func (c *Client) now() time.Time { return c.transport.ServerTime(time.Now()) }
