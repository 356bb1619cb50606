package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

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
	return AsClockError(err, time.Time{}) != nil || errors.As(err, &unknown) || errors.As(err, &hostname) || plain(err)
}

// plain reports whether the server doesn't use TLS.
func plain(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// ClockError is the error for a certificate that is not valid at the time of this
// machine's clock.
type ClockError struct {
	cause error
	cert  *x509.Certificate
	// Here is the time by this machine's clock, There by the server's, zero if unknown.
	Here, There time.Time
}

func (e *ClockError) Error() string { return e.cause.Error() }

func (e *ClockError) Unwrap() error { return e.cause }

// AsClockError returns the ClockError in err, or makes one from a certificate error; nil
// for other errors.
func AsClockError(err error, here time.Time) *ClockError {
	var clock *ClockError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &clock):
		return clock
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &ClockError{cause: err, cert: invalid.Cert, Here: here}
	}
	return nil
}

func (e *ClockError) validity() string {
	format := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	text := fmt.Sprintf("valid from %s to %s, but this machine's clock shows %s",
		format(e.cert.NotBefore), format(e.cert.NotAfter), format(e.Here))
	off := e.Here.Sub(e.There).Round(time.Minute)
	switch {
	case e.There.IsZero():
		return text + ": set the clock, or have the certificate renewed"
	case off.Abs() < time.Minute:
		return text + ", as the server's does: have the certificate renewed"
	case off > 0:
		return fmt.Sprintf("%s, which is %s ahead of the server's: set the clock", text, off)
	default:
		return fmt.Sprintf("%s, which is %s behind the server's: set the clock", text, -off)
	}
}
