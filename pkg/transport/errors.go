package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Explain says why a request did not get as far as an answer, "" where the
// error is of another kind.
func Explain(err error) string {
	var request *url.Error
	if !errors.As(err, &request) {
		return ""
	}
	host := request.URL
	if u, parseErr := url.Parse(request.URL); parseErr == nil {
		host = u.Host
	}
	if why := credentials(request.Err); why != "" {
		return why
	}
	if why := certificate(host, request.Err); why != "" {
		return why
	}
	return noWay(host, request.Err)
}

// credentials explains a program that was to make them and failed. What it says
// itself goes to standard error.
func credentials(err error) string {
	text, found := strings.CutPrefix(err.Error(), "getting credentials: ")
	switch {
	case strings.Contains(text, "gke-gcloud-auth-plugin"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with `gcloud auth login`", text)
	case found:
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with the program in users[].user.exec of the kubeconfig", text)
	case strings.Contains(text, "id-token") || strings.Contains(text, "refresh token"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with your identity provider", text)
	}
	return ""
}

// certificate explains a connection whose other end could not show who it is.
func certificate(host string, err error) string {
	var clock *clockError
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &clock):
		return fmt.Sprintf("the certificate of the API server at %s is %s", host, clock.validity())
	case errors.As(err, &unknown):
		return fmt.Sprintf("the certificate of the API server at %s was not issued by the authority in the kubeconfig: another cluster has this address now, or a proxy intercepts the connection: get the context again, on GKE with `gcloud container clusters get-credentials`", host)
	case errors.As(err, &hostname):
		return fmt.Sprintf("the API server at %s has the certificate of another host: %v: fix the address in the kubeconfig, or name the host with --tls-server-name", host, hostname)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Sprintf("the server at %s does not speak TLS: fix the address in the kubeconfig, or HTTPS_PROXY if there is a proxy", host)
	}
	return ""
}

// validity says when the certificate is valid and what the clocks show.
func (e *clockError) validity() string {
	format := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	text := fmt.Sprintf("valid from %s to %s, but this machine's clock shows %s", format(e.cert.NotBefore), format(e.cert.NotAfter), format(e.here))
	off := e.here.Sub(e.there).Round(time.Minute)
	switch {
	case e.there.IsZero():
		return text + ": set the clock, or have the certificate renewed"
	case off.Abs() < time.Minute:
		return text + ", as the server's does: have the certificate renewed"
	case off > 0:
		return fmt.Sprintf("%s, which is %s ahead of the server's: set the clock", text, off)
	default:
		return fmt.Sprintf("%s, which is %s behind the server's: set the clock", text, -off)
	}
}

// noWay explains a connection that could not be made, or broke.
func noWay(host string, err error) string {
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("the API server can't be reached: there is no host %s: was the cluster deleted? list others with kubectl config get-contexts", dns.Name)
	case errors.As(err, &dns):
		return fmt.Sprintf("the API server can't be reached: can't look up the name %s: check the network: %v", dns.Name, dns)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("the API server can't be reached: nothing listens at %s: is the cluster running? check its address with kubectl config view --minify", host)
	case errors.As(err, &network) && network.Timeout():
		return fmt.Sprintf("the API server can't be reached: %s does not answer: check the VPN if there is one, and that this machine is among the cluster's authorized networks: %v", host, err)
	}
	return fmt.Sprintf("the API server at %s can't be reached: check the network, the VPN and HTTPS_PROXY if there is one: %v", host, err)
}

// Passes reports whether an error is a failure of the way to a server that will be back.
func Passes(err error) bool {
	var request *url.Error
	if !errors.As(err, &request) {
		return broken(err)
	}
	var final *unreachableError
	return !errors.As(err, &final) && credentials(request.Err) == "" && certificate("", request.Err) == ""
}

// broken reports whether a connection broke while an answer was read.
func broken(err error) bool {
	var network net.Error
	var stream http2.StreamError
	return errors.As(err, &network) || errors.As(err, &stream) || errors.Is(err, io.ErrUnexpectedEOF) ||
		utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// Unanswered reports whether a request did not get as far as an answer.
func Unanswered(err error) bool {
	var request *url.Error
	return errors.As(err, &request)
}
