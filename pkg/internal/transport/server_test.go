package transport

import (
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"syscall"
	"testing"
)

func TestExplain(t *testing.T) {
	server := Server{Name: "the server", Authority: "the company", Advice: "check the network", NoHost: "was it deleted?"}
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	noHost := &net.DNSError{Name: "a.example", Err: "no such host", IsNotFound: true}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"advice for this":     {dial(noHost), "the server can't be reached: there is no host a.example: was it deleted?"},
		"advice for anything": {dial(syscall.ECONNREFUSED), "the server can't be reached: nothing listens at a.example: check the network"},
		"a proxy that is away": {&net.OpError{Op: "proxyconnect", Net: "tcp", Err: dial(syscall.ECONNREFUSED)},
			"the server at a.example can't be reached: check the network: proxyconnect tcp: dial tcp: connection refused"},
		"another authority": {x509.UnknownAuthorityError{}, "the certificate of the server at a.example was not issued by the company: check the network"},
		"a request for a token": {&url.Error{Op: "Post", URL: "https://token.example/x", Err: dial(syscall.ECONNREFUSED)},
			"the server can't be reached: nothing listens at token.example: check the network"},
	} {
		if got := server.Explain(&url.Error{Op: "Get", URL: "https://a.example/x", Err: tt.err}); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if got := server.Explain(errors.New("other")); got != "" {
		t.Errorf("got %q of an error that is no request's", got)
	}
}
