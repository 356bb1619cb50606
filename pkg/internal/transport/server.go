package transport

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// Server is how messages name a server, and what they advise when it doesn't answer a
// request.
type Server struct {
	// Name names the server, such as "the API server".
	Name string
	// Authority names who should have issued its certificate.
	Authority string

	// Advice is used when the field for a case is empty.
	Advice string
	// Advice for when no host has the name, nothing listens at the address, or the host
	// doesn't answer.
	NoHost, Refused, Silent string
	// Advice for when the certificate has another issuer or names another host, or when
	// the server doesn't use TLS.
	Issuer, Hostname, Plain string
}

// Explain says why a request got no answer and what to do, "" if the error is of another
// kind.
func (s Server) Explain(err error) string {
	var request *url.Error
	if !errors.As(err, &request) {
		return ""
	}
	for errors.As(request.Err, &request) { // the innermost error names the host of the request
	}
	host := request.URL
	if u, parseErr := url.Parse(request.URL); parseErr == nil {
		host = u.Host
	}
	if Untrusted(request.Err) {
		return s.untrusted(host, request.Err)
	}
	return s.unreachable(host, request.Err)
}

func (s Server) untrusted(host string, err error) string {
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	if c := expired(err); c != nil {
		format := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
		return fmt.Sprintf("the certificate of %s at %s is valid from %s to %s, but this machine's clock shows %s: set the clock, or have the certificate renewed",
			s.Name, host, format(c.NotBefore), format(c.NotAfter), format(time.Now()))
	}
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("the certificate of %s at %s was not issued by %s: %s",
			s.Name, host, s.Authority, cmp.Or(s.Issuer, s.Advice))
	case errors.As(err, &hostname):
		return fmt.Sprintf("%s at %s has the certificate of another host: %v: %s",
			s.Name, host, hostname, cmp.Or(s.Hostname, s.Advice))
	}
	return fmt.Sprintf("the server at %s does not speak TLS: %s", host, cmp.Or(s.Plain, s.Advice))
}

func (s Server) unreachable(host string, err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var network net.Error
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect": // names and addresses are the proxy's
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("%s can't be reached: there is no host %s: %s", s.Name, dns.Name, cmp.Or(s.NoHost, s.Advice))
	case errors.As(err, &dns):
		return fmt.Sprintf("%s can't be reached: can't look up the name %s: check the network: %v",
			s.Name, dns.Name, dns)
	case platform.IsRefused(err):
		return fmt.Sprintf("%s can't be reached: nothing listens at %s: %s", s.Name, host, cmp.Or(s.Refused, s.Advice))
	case errors.As(err, &network) && network.Timeout():
		return fmt.Sprintf("%s can't be reached: %s does not answer: %s: %v", s.Name, host, cmp.Or(s.Silent, s.Advice), err)
	}
	return fmt.Sprintf("%s at %s can't be reached: %s: %v", s.Name, host, s.Advice, err)
}
