package kube

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http2"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

const (
	// dialWithin bounds making a connection: a server behind a VPN that is off
	// never answers.
	dialWithin = 10 * time.Second
	// maxUnread is how much of an answer the server may send before it is read: as much
	// is in memory of the log of each host while a terminal is stopped. Go's 4 MB
	// would be a gigabyte for 256 hosts.
	maxUnread = 256 << 10
)

// apiServer is how messages such as "the API server can't be reached" name it.
var apiServer = transport.Server{
	Name:      "the API server",
	Authority: "the authority that the kubeconfig names",
	Advice:    "check the network, the VPN and HTTPS_PROXY if there is one",
	NoHost:    "was the cluster deleted? kubectl config get-contexts shows others",
	Refused:   "is the cluster running? kubectl config view --minify shows where its address comes from",
	Silent:    "check the VPN if there is one, and that this machine is among the cluster's authorized networks",
	Issuer: "another cluster has this address now, or something between intercepts the connection: " +
		"get the context again, on GKE with `gcloud container clusters get-credentials`",
	Hostname: "correct the address in the kubeconfig, or name the host with --tls-server-name",
	Plain:    "correct the address in the kubeconfig, or HTTPS_PROXY if there is a proxy",
}

// monitored returns a copy of a configuration whose requests go through a Monitor.
func monitored(config *rest.Config, tell func(string)) (*transport.Monitor, *rest.Config) {
	m := transport.NewMonitor(transport.New(nil), apiServer.Name, tell)
	config = rest.CopyConfig(config)
	if config.Proxy != nil {
		m.Proxy = config.Proxy
	}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialWithin}).DialContext
	}
	// Below what adds credentials: making them is not the server's time.
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		limitUnread(base)
		m.Base = base
		return m
	})
	return m, config
}

// limitUnread finds the transport below what client-go has put around it, which has
// sent nothing so far.
func limitUnread(base http.RoundTripper) {
	switch base := base.(type) {
	case *http.Transport:
		base.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: maxUnread}
	case utilnet.RoundTripperWrapper:
		limitUnread(base.WrappedRoundTripper())
	}
}

// unanswered reports whether a request did not get as far as an answer.
func unanswered(err error) bool {
	var request *url.Error
	return errors.As(err, &request)
}

// explainUnanswered says why a request got no answer, "" where the error is of another
// kind.
func explainUnanswered(err error) string {
	var request *url.Error
	if !errors.As(err, &request) {
		return ""
	}
	if why := credentials(request.Err); why != "" {
		return why
	}
	return apiServer.Explain(err)
}

// credentials explains a program that was to make them and failed. What it says
// itself goes to standard error.
func credentials(err error) string {
	text, found := strings.CutPrefix(err.Error(), "getting credentials: ")
	switch {
	case strings.Contains(text, "gke-gcloud-auth-plugin"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with `gcloud auth login`", text)
	case found:
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again; "+
			"the program is the one that users[].user.exec of the kubeconfig names", text)
	case strings.Contains(text, "id-token") || strings.Contains(text, "refresh token"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with your identity provider", text)
	}
	return ""
}

// passes reports whether an error is a failure of the way to a server that will be back.
func passes(err error) bool {
	var request *url.Error
	if !errors.As(err, &request) {
		return broken(err)
	}
	var final *transport.UnreachableError
	return !errors.As(err, &final) && !transport.Untrusted(request.Err) && credentials(request.Err) == ""
}

// broken reports whether a connection broke while an answer was read.
func broken(err error) bool {
	var network net.Error
	var stream http2.StreamError
	return errors.As(err, &network) || errors.As(err, &stream) || errors.Is(err, io.ErrUnexpectedEOF) ||
		utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}
