// Package transport carries requests to an API server. It knows how it stands with the way
// there, and explains why a request got no answer.
package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

const (
	// dialWithin bounds making a connection: a server behind a VPN that is off
	// never answers.
	dialWithin = 10 * time.Second
	// noWordAfter is how long someone looks at a silent screen.
	noWordAfter = 2 * time.Second
	// MaxUnread is how much of an answer the server may send before it is read: as much
	// is in memory of the log of each host while a terminal is stopped. Go's 4 MB
	// would be a gigabyte for 256 hosts.
	MaxUnread = 256 << 10
	// outageLasts is for how long a server that was reached before is waited
	// for: an upgrade of a control plane takes a quarter of an hour.
	outageLasts = 30 * time.Minute
)

// Transport knows how it stands with the way to the API server: whether it was ever
// reached, since when it can't be, and what time it is there.
type Transport struct {
	base http.RoundTripper
	// proxy is what the way leads through, as in http.Transport.
	proxy func(*http.Request) (*url.URL, error)
	now   func() time.Time
	// tell, which may be nil, is for a line to who waits.
	tell    func(string)
	telling sync.Mutex // one line at a time

	mu      sync.Mutex
	reached bool
	waiting bool          // it was said that nothing has answered so far
	since   time.Time     // of the first of the failures in a row
	told    bool          // about them
	ahead   time.Duration // from our clock to the server's
}

// Wrap returns a copy of a configuration whose requests go over a Transport. tell, which may
// be nil, gets a line when the server keeps us waiting.
func Wrap(config *rest.Config, tell func(string)) (*Transport, *rest.Config) {
	t := &Transport{now: time.Now, tell: tell, proxy: http.ProxyFromEnvironment}
	config = rest.CopyConfig(config)
	if config.Proxy != nil {
		t.proxy = config.Proxy
	}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialWithin}).DialContext
	}
	// Below what adds credentials: making them is not the server's time.
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		limitUnread(base)
		t.base = base
		return t
	})
	return t, config
}

// limitUnread finds the transport below what client-go has put around it, which has
// sent nothing so far.
func limitUnread(base http.RoundTripper) {
	switch base := base.(type) {
	case *http.Transport:
		base.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: MaxUnread}
	case utilnet.RoundTripperWrapper:
		limitUnread(base.WrappedRoundTripper())
	}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	slow := time.AfterFunc(noWordAfter, func() { t.slow(r.URL.Host) })
	defer slow.Stop()
	answer, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, t.failed(r, err)
	}
	t.answered(answer)
	return answer, nil
}

// slow says once that a server has not answered at all so far.
func (t *Transport) slow(host string) {
	t.mu.Lock()
	first := !t.reached && !t.waiting
	t.waiting = t.waiting || first
	t.mu.Unlock()
	if first {
		t.Say("the API server at %s does not answer yet", host)
	}
}

// Say writes a line to who waits. It is called without the mutex of the state: a stopped terminal
// holds up no request but those that there is something to say of.
func (t *Transport) Say(format string, args ...any) {
	if t.tell == nil {
		return
	}
	t.telling.Lock()
	defer t.telling.Unlock()
	t.tell(fmt.Sprintf(format, args...))
}

func (t *Transport) answered(answer *http.Response) {
	t.mu.Lock()
	again := t.told
	t.reached, t.told, t.since = true, false, time.Time{}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		t.ahead = date.Sub(t.now())
	}
	t.mu.Unlock()
	if again {
		t.Say("the API server answers again")
	}
}

// failed looks at a request without an answer. Where it is useless to try again
// the error is an unreachableError: a server that was never reached is a wrong
// address or no network, and told at once; one that was will be back.
func (t *Transport) failed(r *http.Request, err error) error {
	if r.Context().Err() != nil {
		return err
	}
	if clock := t.skewed(r.Context(), r.URL.Host, err); clock != nil {
		return clock
	}
	final, news := t.count(err)
	switch {
	case final:
		return &unreachableError{err}
	case news:
		t.Say("the API server at %s can't be reached (%v); trying again", r.URL.Host, err)
	}
	return err
}

// count takes a failure in: whether it is useless to try again, and whether
// nothing was said of the outage so far.
func (t *Transport) count(err error) (final, news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		t.since = t.now()
	}
	if !t.reached || t.now().Sub(t.since) >= outageLasts {
		return true, false
	}
	news = dialing(err) && !t.told
	t.told = t.told || news
	return false, news
}

// ServerTime is the time by the clock of the API server, where it is now by ours.
// It is off by less than a second and the way of an answer.
func (t *Transport) ServerTime(here time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return here.Add(t.ahead)
}

// dialing reports whether a connection could not be made.
func dialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// unreachableError is a request that got no answer, and for which none is to be
// expected soon.
type unreachableError struct{ cause error }

func (e *unreachableError) Error() string { return e.cause.Error() }
func (e *unreachableError) Unwrap() error { return e.cause }

// clockError is a certificate that is not valid at the time that this machine's
// clock shows.
type clockError struct {
	cause error
	cert  *x509.Certificate
	here  time.Time
	// there is the time that the server says, zero if it says none.
	there time.Time
}

func (e *clockError) Error() string { return e.cause.Error() }
func (e *clockError) Unwrap() error { return e.cause }

// skewed makes a clockError of an error about the validity of a certificate, and
// asks the server for its time.
func (t *Transport) skewed(ctx context.Context, host string, err error) error {
	var invalid x509.CertificateInvalidError
	if !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
		return nil
	}
	e := &clockError{cause: err, cert: invalid.Cert, here: t.now()}
	e.there, _ = t.dateOf(ctx, host)
	return e
}

// dateWithin bounds asking for the time, which an error message waits for.
const dateWithin = 3 * time.Second

// dateOf asks a server that can't be trusted what time it is there: nothing is
// sent to it, and the answer is for people.
func (t *Transport) dateOf(ctx context.Context, host string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, dateWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+host+"/", nil) //nolint:gosec // the kubeconfig names the host
	if err != nil {
		return time.Time{}, err
	}
	untrusting := &http.Transport{
		Proxy:             t.proxy,
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // no credentials are sent, nothing is believed
	}
	answer, err := untrusting.RoundTrip(request)
	if err != nil {
		return time.Time{}, err
	}
	defer answer.Body.Close()
	return http.ParseTime(answer.Header.Get("Date"))
}
