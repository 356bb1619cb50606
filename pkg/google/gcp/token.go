package gcp

import (
	"fmt"
	"net/http"
)

// Bearer returns a round tripper that adds the account's token to requests for another server, such as
// the API server of a cluster.
func (a *Access) Bearer(base http.RoundTripper) http.RoundTripper { return bearer{a, base} }

type bearer struct {
	access *Access
	base   http.RoundTripper
}

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := b.access.credentials.Token(request.Context())
	if err != nil {
		return nil, fmt.Errorf("getting credentials: %w", err)
	}
	once := request.Clone(request.Context())
	once.Header.Set("Authorization", "Bearer "+token.Value)
	return b.base.RoundTrip(once)
}
