//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// counter is a proxy that counts the requests to a server.
type counter struct {
	*httptest.Server
	count atomic.Int64
}

// countRequests starts a counter for a server, which it contacts through transport.
func countRequests(server string, transport http.RoundTripper) (*counter, error) {
	target, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	c := &counter{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.count.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	return c, nil
}

// direct returns a change of a kubeconfig's cluster to a plain address.
func direct(address string) func(*clientcmdapi.Cluster) {
	return func(c *clientcmdapi.Cluster) { *c = clientcmdapi.Cluster{Server: address} }
}
