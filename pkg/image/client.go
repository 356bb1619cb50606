package image

import (
	"cmp"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Client makes images. All fields may be left out.
type Client struct {
	Keys      authn.Keychain    // the credentials for registries; none if it is nil
	Transport http.RoundTripper // makes the requests to registries
	UserAgent string
	Backoff   remote.Backoff // of failed requests to registries

	Wheels  *http.Client // fetches wheels from their URLs
	TempDir string       // where wheels are stored while they are converted
	Memory  Memory
}

// The numbers of things that are done at the same time.
const (
	readers = 16 // of notes, which are small
	makers  = 8  // of layers; they compile, convert and send
)

// A session is a connection to registries that counts what it sends.
type session struct {
	memory  Memory
	options []remote.Option
	traffic *traffic
	pull    *remote.Puller
	push    *remote.Pusher
}

// connect prepares a session; it makes no request. changed is called after bytes were sent.
func (c *Client) connect(arch string, changed func()) (*session, error) {
	s := &session{memory: c.Memory, traffic: &traffic{base: c.Transport, changed: changed}}
	if s.traffic.base == nil {
		s.traffic.base = remote.DefaultTransport
	}
	keys := c.Keys
	if keys == nil {
		keys = authn.NewMultiKeychain() // has none
	}
	s.options = []remote.Option{
		remote.WithTransport(s.traffic),
		remote.WithAuthFromKeychain(keys),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}),
		remote.WithJobs(readers),
		remote.WithUserAgent(cmp.Or(c.UserAgent, "kubectl-kinetic")),
	}
	if c.Backoff.Steps > 0 {
		s.options = append(s.options, remote.WithRetryBackoff(c.Backoff))
	}
	var err error
	if s.pull, err = remote.NewPuller(s.options...); err != nil {
		return nil, err
	}
	return s, s.forget()
}

// forget makes the session look again for what it has sent: a Pusher remembers it.
func (s *session) forget() (err error) {
	s.push, err = remote.NewPusher(s.options...)
	return err
}
