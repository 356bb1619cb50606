package apiserver

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
)

// HTTPClient returns an HTTP client for a configuration. It makes a request again that the server did not
// authenticate: client-go gets new credentials then, but only later requests have them.
func HTTPClient(config *rest.Config) (*http.Client, error) {
	made, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	client := *made // which others may share
	client.Transport = newLogin{made.Transport}
	return &client, nil
}

type newLogin struct{ base http.RoundTripper }

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (l newLogin) WrappedRoundTripper() http.RoundTripper { return l.base }

// RoundTrip implements http.RoundTripper.
func (l newLogin) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := l.base.RoundTrip(request.Clone(request.Context())) // client-go puts the credentials into it
	if err != nil || answer.StatusCode != http.StatusUnauthorized || request.Body != nil && request.GetBody == nil {
		return answer, err
	}
	again := request.Clone(request.Context())
	if request.GetBody != nil {
		body, gone := request.GetBody()
		if gone != nil {
			return answer, err
		}
		again.Body = body
	}
	_ = answer.Body.Close() // it is not read
	return l.base.RoundTrip(again)
}
