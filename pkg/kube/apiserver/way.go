// Package apiserver connects to a Kubernetes API server and explains its errors.
package apiserver

import (
	"net"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

const (
	// dialWithin limits the time to connect: a server behind a VPN that is off never
	// answers.
	dialWithin = 10 * time.Second
	// MaxUnread limits how many unread bytes the server may send ahead. While a terminal is
	// stopped, that much of each host's log is in memory: with Go's 4 MB it would be a
	// gigabyte for 256 hosts.
	MaxUnread = 256 << 10
)

// server has the words for messages such as "the API server can't be reached".
var server = transport.Server{
	Name:      "the API server",
	Authority: "the authority in the kubeconfig",
	Advice:    "check the network, the VPN and HTTPS_PROXY if there is one",
	NoHost:    "was the cluster deleted? list others with kubectl config get-contexts",
	Refused:   "is the cluster running? check its address with kubectl config view --minify",
	Silent:    "check the VPN if there is one, and that this machine is among the cluster's authorized networks",
	Issuer: "another cluster has this address now, or a proxy intercepts the connection: " +
		"get the context again, on GKE with `gcloud container clusters get-credentials`",
	Hostname: "fix the address in the kubeconfig, or name the host with --tls-server-name",
	Plain:    "fix the address in the kubeconfig, or HTTPS_PROXY if there is a proxy",
}

// Monitored returns a copy of a configuration whose requests go through a Monitor. notify,
// if not nil, gets a line when the server is slow to answer.
func Monitored(config *rest.Config, notify func(string)) (*transport.Monitor, *rest.Config) {
	m := transport.NewMonitor(transport.New(nil), server.Name, notify)
	config = rest.CopyConfig(config)
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialWithin}).DialContext
	}
	// Inside the wrapper that gets credentials: that time is not the server's.
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		limitUnread(base)
		m.Base = base
		return m
	})
	return m, config
}

// limitUnread applies MaxUnread to the transport inside client-go's wrappers. The transport
// must not have sent anything yet.
func limitUnread(base http.RoundTripper) {
	switch base := base.(type) {
	case *http.Transport:
		base.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: MaxUnread}
	case utilnet.RoundTripperWrapper:
		limitUnread(base.WrappedRoundTripper())
	}
}
