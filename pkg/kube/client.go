package kube

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// Client makes requests to one cluster, for one namespace. It only knows the four API groups that
// jobs need: the typed clients of client-go register all groups, which would slow down every start.
type Client struct {
	config *rest.Config // as it was given
	core   rest.Interface
	// plain reads objects of any kind, as JSON.
	plain *apiserver.Client
	// versions are the clients of the other API groups that jobs need.
	versions map[schema.GroupVersion]rest.Interface

	namespace string
	codec     runtime.ParameterCodec
	decoder   runtime.Decoder
	// transport knows whether the server can be reached, and the server's time.
	transport *transport.Monitor
	// unexplained is done once it was said that reasons can't be read.
	unexplained sync.Once
}

// NewClient returns a Client. It contacts nothing. An empty namespace is all namespaces, for
// listing. tell, which may be nil, is called with a line when the API server does not answer.
func NewClient(given *rest.Config, namespace string, tell func(string)) (*Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, metav1.AddMetaToScheme, kueue.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("preparing a client: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	groups := []schema.GroupVersion{kueue.Version, kueue.NewerVersion}
	for _, k := range diagnose.Kinds {
		metav1.AddToGroupVersion(scheme, k.GroupVersion())
		groups = append(groups, k.GroupVersion())
	}
	way, config := apiserver.Monitored(given, tell)
	http, err := apiserver.HTTPClient(config)
	if err != nil {
		return nil, err
	}
	c := &Client{config: given, namespace: namespace, codec: runtime.NewParameterCodec(scheme), transport: way, versions: map[schema.GroupVersion]rest.Interface{}}
	factory := serializer.NewCodecFactory(scheme)
	c.decoder = factory.UniversalDeserializer()
	codecs := factory.WithoutConversion()
	clientFor := func(gv schema.GroupVersion, path string) (rest.Interface, error) {
		own := rest.CopyConfig(config)
		own.GroupVersion, own.APIPath, own.NegotiatedSerializer = &gv, path, codecs
		// Ten times as fast as JSON for thousands of jobs.
		own.ContentType, own.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
		return rest.RESTClientForConfigAndClient(own, http)
	}
	if c.core, err = clientFor(corev1.SchemeGroupVersion, "/api"); err != nil {
		return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	c.plain = apiserver.ClientOf(c.core, way)
	for _, group := range groups {
		if c.versions[group], err = clientFor(group, "/apis"); err != nil {
			return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
		}
	}
	return c, nil
}

// kind is one kind of object, with the client for its group.
type kind struct {
	client   rest.Interface
	newer    rest.Interface // for servers without that version; may be nil
	resource string         // plural, as in URLs
	// metadata says that only the metadata of the objects is read.
	metadata bool
	// rare says that a cluster may not have the kind.
	rare bool
	// workload is the kind of workload, nil for other objects.
	workload *diagnose.Kind
}

// The resources of objects that are not workloads.
const (
	podResource   = "pods"
	eventResource = "events"
	kueueResource = "workloads"
)

func (c *Client) pods() kind   { return kind{client: c.core, resource: podResource} }
func (c *Client) events() kind { return kind{client: c.core, resource: eventResource} }
func (c *Client) jobs() kind   { return c.workloads(diagnose.Job) }

// workloads returns a kind of workload. If a cluster may not have the kind, only its metadata is
// read, so that its types need not be known.
func (c *Client) workloads(k *diagnose.Kind) kind {
	return kind{client: c.versions[k.GroupVersion()], resource: k.Plural, metadata: k.Optional, rare: k.Optional, workload: k}
}

func (c *Client) kueueWorkloads() kind {
	return kind{client: c.versions[kueue.Version], newer: c.versions[kueue.NewerVersion], resource: kueueResource, rare: true}
}

func (k kind) collection() collection { return collection{k.client.APIVersion(), k.resource} }

// isPart reports whether a job can also be described without objects of the kind.
func (k kind) isPart() bool { return k.resource == eventResource || k.rare }

// isReason reports whether objects of the kind only say why jobs wait.
func (k kind) isReason() bool { return k.isPart() && k.workload == nil }

// lacks reports whether an error means that objects of the kind can't be read and are not needed:
// a cluster may not have LeaderWorkerSets or Kueue, and a user may have no permission to read
// them, or events.
func (k kind) lacks(err error) bool {
	return k.isPart() && apierrors.IsForbidden(err) || k.rare && apierrors.IsNotFound(err)
}

// none returns the change for a kind that can't be read. The reasons why a job waits may be left
// out silently, but not jobs.
func (c *Client) none(k kind, lacking error) change {
	ch := change{kind: k, reset: true, lacks: true}
	if k.workload != nil && !apierrors.IsNotFound(lacking) {
		ch.denied = lacking
	}
	return ch
}

func (c *Client) reading(k kind, answer string, o *metav1.ListOptions) *rest.Request {
	r := k.client.Get().NamespaceIfScoped(c.namespace, c.namespace != "").Resource(k.resource).VersionedParams(o, c.codec)
	if k.metadata {
		as := ";as=" + answer + ";g=meta.k8s.io;v=v1"
		r.SetHeader("Accept", runtime.ContentTypeProtobuf+as, runtime.ContentTypeJSON+as)
	}
	return r
}

func (c *Client) list(ctx context.Context, k kind, o metav1.ListOptions, into runtime.Object) error {
	err := c.reading(k, "PartialObjectMetadataList", &o).Do(ctx).Into(into)
	return c.explain("list", k, "", err)
}

// listEach is list for many objects: it calls each with every object. list is an empty list of
// the kind.
func (c *Client) listEach(ctx context.Context, k kind, o metav1.ListOptions, list runtime.Object, detail joblist.Detail, each func(runtime.Object)) (metav1.ListInterface, error) {
	body, err := c.reading(k, "PartialObjectMetadataList", &o).Stream(ctx)
	if err != nil {
		return nil, c.explain("list", k, "", err)
	}
	defer body.Close()
	about, err := joblist.ReadItems(body, c.decoder, list, detail, each)
	return about, c.explain("list", k, "", err)
}

// missingNamespace returns an error if the namespace doesn't exist: the API server lists nothing
// in it, as in an empty one. It returns nil without permission to read the namespace.
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

// now returns the time by the API server's clock.
func (c *Client) now() time.Time { return c.transport.ServerTime(time.Now()) }
