// Package gcp is access to Google Cloud's REST APIs: credentials, endpoints, retries,
// operations, and errors in our words. It knows nothing about clusters.
package gcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"
	"google.golang.org/api/option"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

const (
	// scope lets a token be used for all services that the account may use.
	scope = "https://www.googleapis.com/auth/cloud-platform"
	// answerWithin limits the wait for the first byte of an answer.
	answerWithin = 30 * time.Second
)

// Access makes requests to Google Cloud as one account. It is safe for concurrent use.
type Access struct {
	// Interval is the time between two looks at an operation, at first; New sets it to a
	// second. It grows to five times as much.
	Interval time.Duration

	credentials *auth.Credentials

	env       func(string) string // the variables of the environment
	client    *http.Client
	endpoints map[Service]string
	account   string
	// charged is the project that requests are charged to, whatever project they are about, "" for none. Some
	// services, GKE among them, then look there whether their API is enabled.
	charged string

	mu      sync.Mutex
	numbers map[string]string // of projects, by their IDs
}

// New finds the application default credentials. It contacts no API. env returns the
// variables of the environment.
func New(ctx context.Context, env func(string) string) (*Access, error) {
	endpoints, err := readEndpoints(env)
	if err != nil {
		return nil, err
	}
	found, err := find(env)
	if err != nil {
		return nil, principal.NotFound("Google Cloud", err, env)
	}
	base := transport.New(newTransport())
	client, err := httptransport.NewClient(&httptransport.Options{BaseRoundTripper: base, Credentials: found, DisableTelemetry: true,
		Headers: http.Header{}}) // the project to charge is lost in a nil header
	if err != nil {
		return nil, fmt.Errorf("using the credentials for Google Cloud: %w", err)
	}
	client.Transport = &retrier{base: client.Transport, reached: base.Reached}
	// The token is added to each request, so it would follow a redirect to any host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	quota, err := found.QuotaProjectID(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading which project the credentials charge: %w", err)
	}
	return &Access{Interval: time.Second, credentials: found, env: env, client: client, endpoints: endpoints, account: principal.Of(found.JSON()),
		charged: quota, numbers: map[string]string{}}, nil
}

// find returns the credentials of the file that the environment names, or of this machine.
func find(env func(string) string) (*auth.Credentials, error) {
	options := &credentials.DetectOptions{Scopes: []string{scope}}
	if file := env(api.EnvCredentials); file != "" {
		options.CredentialsFile = file //nolint:staticcheck // the user's own file, whatever its type
	}
	return credentials.DetectDefault(options)
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   answerWithin,
		ResponseHeaderTimeout: answerWithin,
		DialContext:           (&net.Dialer{Timeout: answerWithin / 3}).DialContext,
	}
}

// Options are the options for a client of a service, such as container.NewService.
func (a *Access) Options(s Service) []option.ClientOption {
	options := []option.ClientOption{option.WithHTTPClient(a.client)}
	if endpoint := a.endpoints[s]; endpoint != "" {
		options = append(options, option.WithEndpoint(endpoint))
	}
	return options
}

// Client returns what makes the requests, for those that no client of a service makes.
func (a *Access) Client() *http.Client { return a.client }

// Account returns the account that makes requests, "" if the credentials don't say.
func (a *Access) Account() string { return a.account }

// userAgent names this program to the servers.
func userAgent() string { return "kubectl-kinetic/" + version.String() }

// Bearer returns a round tripper that adds the account's token to requests for another server, such as
// the API server of a cluster.
func (a *Access) Bearer(base http.RoundTripper) http.RoundTripper { return bearer{a, base} }

type bearer struct {
	access *Access
	base   http.RoundTripper
}

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := b.access.credentials.Token(request.Context())
	if err != nil {
		return nil, fmt.Errorf("getting credentials: %w", err)
	}
	once := request.Clone(request.Context())
	once.Header.Set("Authorization", "Bearer "+token.Value)
	return b.base.RoundTrip(once)
}
