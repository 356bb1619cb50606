package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Explained is an error in our words that still wraps its cause.
type Explained struct {
	Text  string
	Cause error
	// Of is its kind, "" for that of the cause; Do is a command to type, or what else to do, "" if only
	// the text says that.
	Of api.ErrorKind
	Do string
}

// Kind returns the kind of the error, "" for that of its cause.
func (e *Explained) Kind() api.ErrorKind { return e.Of }

// Next returns what to do.
func (e *Explained) Next() string { return e.Do }

func (e *Explained) Error() string { return e.Text }

func (e *Explained) Unwrap() error { return e.Cause }

// Dialing reports whether a connection could not be made.
func Dialing(err error) bool {
	var dns *net.DNSError
	var op *net.OpError
	return errors.As(err, &dns) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// Untrusted reports whether a connection could not be secured: the server's certificate
// was not accepted, or the server doesn't use TLS.
func Untrusted(err error) bool {
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	return expired(err) != nil || errors.As(err, &unknown) || errors.As(err, &hostname) || plain(err)
}

// plain reports whether the server doesn't use TLS.
func plain(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// expired returns the certificate that is not valid at the time of this machine's clock, nil if that is not the error.
func expired(err error) *x509.Certificate {
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		return invalid.Cert
	}
	return nil
}
