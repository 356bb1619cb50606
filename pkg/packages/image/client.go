package image

import (
	"cmp"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Client makes images. All fields may be left out. It logs in to a registry once, for
// everything that it reads there, so the fields don't change after its first use.
type Client struct {
	Keys      authn.Keychain    // the credentials for registries; none if it is nil
	Transport http.RoundTripper // makes the requests to registries
	UserAgent string
	Backoff   remote.Backoff // of failed requests to registries

	TempDir string // where wheels are stored while they are converted
	Memory  Memory

	mu       sync.Mutex
	sessions map[string]*session // by architecture
}

// The numbers of things that are done at the same time.
const (
	readers = 16 // of notes, which are small
	makers  = 8  // of layers; they compile, convert and send
	// of layers that are large; those of a CUDA project have gigabytes
	largeMakers = 2
)

type session struct {
	memory Memory
	pull   *remote.Puller
	public *remote.Puller // without credentials
}

// session returns the session for images of an architecture; it makes no request.
func (c *Client) session(arch string) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[arch]; s != nil {
		return s, nil
	}
	pull, err := remote.NewPuller(c.options(arch, c.transport())...)
	if err != nil {
		return nil, err
	}
	public, err := remote.NewPuller(append(c.options(arch, c.transport()), remote.WithAuthFromKeychain(noKeys()))...)
	if err != nil {
		return nil, err
	}
	if c.sessions == nil {
		c.sessions = map[string]*session{}
	}
	s := &session{memory: c.Memory, pull: pull, public: public}
	c.sessions[arch] = s
	return s, nil
}

func (c *Client) options(arch string, transport http.RoundTripper) []remote.Option {
	options := []remote.Option{
		remote.WithTransport(transport),
		remote.WithAuthFromKeychain(c.keys()),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}),
		remote.WithJobs(readers),
		remote.WithUserAgent(cmp.Or(c.UserAgent, "kubectl-kinetic")),
	}
	if c.Backoff.Steps > 0 {
		options = append(options, remote.WithRetryBackoff(c.Backoff))
	}
	return options
}

func (c *Client) transport() http.RoundTripper { return cmp.Or(c.Transport, remote.DefaultTransport) }

func (c *Client) keys() authn.Keychain { return cmp.Or(c.Keys, noKeys()) }

func noKeys() authn.Keychain { return authn.NewMultiKeychain() }
