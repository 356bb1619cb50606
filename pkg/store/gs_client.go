package store

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"
	"cloud.google.com/go/storage"
	"google.golang.org/api/option"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// answerWithin limits the wait for the first byte of an answer.
const answerWithin = 30 * time.Second

// gsClient is a connection to Cloud Storage or its emulator.
type gsClient struct {
	*storage.Client
	transport *transport.Transport
	http      *http.Client
	// account is the account that makes requests, "" if the credentials don't say.
	account string
}

func newGSClient(ctx context.Context) (*gsClient, error) {
	c := &gsClient{transport: transport.New(unended{asStored{newTransport()}})}
	hc := &http.Client{Transport: c.transport}
	if os.Getenv(api.EnvStorageEmulator) == "" {
		found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{storage.ScopeReadWrite}})
		if err != nil {
			return nil, &unusableError{*principal.NotFound("Cloud Storage", err, os.Getenv)}
		}
		c.account = principal.Of(found.JSON())
		hc, err = httptransport.NewClient(&httptransport.Options{BaseRoundTripper: c.transport, Credentials: found, DisableTelemetry: true})
		if err != nil {
			return nil, fmt.Errorf("using the credentials for Cloud Storage: %w", err)
		}
	}
	c.http = hc
	var err error
	// The HTTP client already does the authentication, if any.
	c.Client, err = storage.NewClient(ctx, option.WithHTTPClient(hc), option.WithoutAuthentication(), storage.WithJSONReads())
	if err != nil {
		return nil, fmt.Errorf("creating a Cloud Storage client: %w", err)
	}
	return c, nil
}

// newTransport uses HTTP/1.1: with HTTP/2, all uploads would share the window of one TCP
// connection.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DisableCompression:    true,     // bytes as they are stored, since the checksum is of those
		MaxIdleConnsPerHost:   Parallel, // they stay open for the next requests
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   answerWithin,
		ResponseHeaderTimeout: answerWithin,
		DialContext:           (&net.Dialer{Timeout: answerWithin / 3}).DialContext,
	}
}

// asStored requests downloads as they are stored. Otherwise the server decompresses
// objects with Content-Encoding: gzip, which changes their size and checksum. The client
// library doesn't accept the header.
type asStored struct{ base http.RoundTripper }

func (s asStored) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("alt") == "media" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", "gzip")
	}
	return s.base.RoundTrip(r)
}

// unended keeps the end of a request's body from being sent once the request was cancelled.
// The client library writes it then, too, and a server might take what it got for the whole
// body.
type unended struct{ base http.RoundTripper }

func (u unended) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		cancelled := r.Context().Err
		r = r.WithContext(r.Context()) // a shallow copy
		r.Body = cancelledBody{r.Body, cancelled}
	}
	return u.base.RoundTrip(r)
}

// cancelledBody is a body that fails once its request was cancelled.
type cancelledBody struct {
	io.ReadCloser
	cancelled func() error
}

func (b cancelledBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if why := b.cancelled(); why != nil {
		return 0, why
	}
	return n, err
}
