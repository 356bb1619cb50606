// Package controlplane puts a real cluster behind the GKE clusters of gcptest.
package controlplane

import (
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// Serve serves the API of a cluster to those who have a token of the server, and makes it the control
// plane of every GKE cluster there. The rights are those of the configuration. Close what it returns.
func Serve(server *gcptest.Server, cluster *rest.Config) (*httptest.Server, error) {
	cluster = rest.CopyConfig(cluster)
	cluster.QPS = -1 // as many requests as there are
	transport, err := rest.TransportFor(cluster)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(cluster.Host)
	if err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0) // of clients that went away
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Del("Authorization")
		},
		FlushInterval: -1, // watches
		ErrorLog:      quiet,
	}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !server.Accepts(r) {
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`, http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	web.Config.ErrorLog = quiet
	web.StartTLS()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	server.SetEndpoint(web.Listener.Addr().String(), base64.StdEncoding.EncodeToString(authority))
	return web, nil
}
