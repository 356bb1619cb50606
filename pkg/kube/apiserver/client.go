package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Client makes requests by their paths, such as /api/v1/namespaces. It knows no types: that of
// client-go registers all of Kubernetes' types at every start.
type Client struct {
	rest rest.Interface
	way  *transport.Monitor
}

// NewClient returns a Client. It contacts nothing. notify, if not nil, gets a line when the server
// is slow to answer.
func NewClient(config *rest.Config, notify func(string)) (*Client, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // for the server's errors
	way, config := Monitored(config, notify)
	config.QPS = -1 // the server does its own throttling
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	http, err := HTTPClient(config)
	if err != nil {
		return nil, err
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, http)
	if err != nil {
		return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	return &Client{client, way}, nil
}

// ClientOf returns a Client that uses an existing REST client and its monitor.
func ClientOf(client rest.Interface, way *transport.Monitor) *Client { return &Client{client, way} }

// Ahead returns how much the server's clock is ahead of this machine's, 0 before its first answer.
// It is off by at most a second plus an answer's travel time.
func (c *Client) Ahead() time.Duration {
	var here time.Time
	return c.way.ServerTime(here).Sub(here)
}

// Read returns the body of an answer. accept is its media type.
func (c *Client) Read(ctx context.Context, accept string, parameters map[string]string, path ...string) ([]byte, error) {
	request := c.rest.Get().AbsPath(path...).SetHeader("Accept", accept)
	for name, value := range parameters {
		request.Param(name, value)
	}
	return Body(request.Do(ctx))
}

// Get decodes an answer in JSON.
func (c *Client) Get(ctx context.Context, into any, parameters map[string]string, path ...string) error {
	data, err := c.Read(ctx, runtime.ContentTypeJSON, parameters, path...)
	if err != nil {
		return err
	}
	return decode(data, into)
}

// Send sends an object as JSON with a method, such as POST, and decodes the answer. into may be nil.
func (c *Client) Send(ctx context.Context, method string, object, into any, path ...string) error {
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("writing an object as JSON: %w", err)
	}
	request := c.rest.Verb(method).AbsPath(path...).SetHeader("Accept", runtime.ContentTypeJSON).SetHeader("Content-Type", runtime.ContentTypeJSON)
	data, err := Body(request.Body(text).Do(ctx))
	if err != nil || into == nil {
		return err
	}
	return decode(data, into)
}

// Apply applies an object on the server, as kubectl apply --server-side --force-conflicts does: manager takes over the
// fields of others.
func (c *Client) Apply(ctx context.Context, manager string, object any, path ...string) error {
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("writing an object as JSON: %w", err)
	}
	return c.rest.Patch(types.ApplyPatchType).AbsPath(path...).Param("fieldManager", manager).Param("force", "true").Body(text).Do(ctx).Error()
}

// Body returns the body of an answer. It calls Error because that, unlike Raw, reads the server's reason
// for a failure.
func Body(result rest.Result) ([]byte, error) {
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading the answer of the API server: %w", err)
	}
	return nil
}
