// Package counter counts the requests to a server.
package counter

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

// Counter is a proxy that counts the requests to a server.
type Counter struct {
	*httptest.Server
	Count atomic.Int64
}

// Of starts a counter for a server, which it contacts through transport.
func Of(server string, transport http.RoundTripper) (*Counter, error) {
	target, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	c := &Counter{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Count.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	return c, nil
}
