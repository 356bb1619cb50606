package image_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

// docker stands for the configuration of Docker.
type docker struct{}

func (docker) Resolve(authn.Resource) (authn.Authenticator, error) {
	return authn.FromConfig(authn.AuthConfig{Username: "docker", Password: "secret"}), nil
}

func TestKeychain(t *testing.T) {
	t.Parallel()
	token := func(context.Context) (string, error) { return "token", nil }
	failing := func(context.Context) (string, error) { return "", errors.New("no credentials") }
	for _, tt := range []struct {
		registry string
		token    image.TokenFunc
		want     string
	}{
		{"europe-west4-docker.pkg.dev", token, "oauth2accesstoken:token"},
		{"gcr.io", token, "oauth2accesstoken:token"},
		{"mirror.gcr.io", token, "docker:secret"},
		{"gcr.io", failing, "docker:secret"},
		{"gcr.io", nil, "docker:secret"},
		{"gcr.io.example.com", token, "docker:secret"},
		{"notgcr.io", token, "docker:secret"},
		{"pkg.dev", token, "docker:secret"},
		{"index.docker.io", token, "docker:secret"},
		{"localhost:5000", token, "docker:secret"},
	} {
		registry, err := name.NewRegistry(tt.registry)
		if err != nil {
			t.Fatal(err)
		}
		a, err := authn.Resolve(context.Background(), image.Keychain(context.Background(), tt.token, docker{}), registry)
		if err != nil {
			t.Fatal(err)
		}
		config, err := authn.Authorization(context.Background(), a)
		if err != nil || config.Username+":"+config.Password != tt.want {
			t.Errorf("%s: got %+v, %v, want %s", tt.registry, config, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	registry, _ := name.NewRegistry("gcr.io")
	if _, err := authn.Resolve(ctx, image.Keychain(context.Background(), failing, docker{}), registry); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// redirect sends all requests to one server.
type redirect string

func (to redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", string(to)
	return http.DefaultTransport.RoundTrip(r)
}

// Google's registries get the token, and it is asked for again when it has expired.
func TestTokenIsSent(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	s := inProcess(t)
	s.put(t, "acme/base:1", python(t, ""))
	tokens := 0
	c := client(t)
	c.Transport = redirect(s.host)
	c.Keys = image.Keychain(context.Background(), func(context.Context) (string, error) {
		tokens++
		return strings.Repeat("t", tokens), nil
	}, authn.DefaultKeychain)
	s.with(func(w http.ResponseWriter, r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		if user == "oauth2accesstoken" && password != "" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}, func() {
		if f, err := c.Inspect(context.Background(), "europe-docker.pkg.dev/acme/base:1", "amd64"); err != nil || f.Python != "3.12" {
			t.Errorf("%+v, %v", f, err)
		}
		without := client(t)
		without.Transport = c.Transport
		_, err := without.Inspect(context.Background(), "europe-docker.pkg.dev/acme/base:1", "amd64")
		if err == nil || !strings.Contains(err.Error(), "gcloud auth application-default login") {
			t.Errorf("err = %v", err)
		}
	})
	if tokens < 2 {
		t.Errorf("the token was asked for %d times", tokens)
	}
}

// stale stands for a configuration of Docker whose helper is gone.
type stale struct{}

func (stale) Resolve(authn.Resource) (authn.Authenticator, error) {
	return nil, errors.New("docker-credential-desktop: executable file not found")
}

// TestStaleHelper: public bases need no credentials. For others, the error names the helper.
func TestStaleHelper(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	s.put(t, "acme/base:1", python(t, ""))
	refuse := func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	look := func() (digest string, lookErr, inspectErr error) {
		c := client(t)
		c.Keys = image.Keychain(t.Context(), nil, stale{})
		digest, lookErr = c.BaseDigest(t.Context(), s.host+"/acme/base:1", "amd64")
		_, inspectErr = c.Inspect(t.Context(), s.host+"/acme/base:1", "amd64")
		return digest, lookErr, inspectErr
	}
	if digest, lookErr, inspectErr := look(); digest == "" || lookErr != nil || inspectErr != nil {
		t.Errorf("a public base: digest %q, %v, %v", digest, lookErr, inspectErr)
	}
	s.with(refuse, func() {
		_, lookErr, inspectErr := look()
		for _, err := range []error{lookErr, inspectErr} {
			if err == nil || !strings.Contains(err.Error(), "docker-credential-desktop") {
				t.Errorf("a private base: %v", err)
			}
		}
	})
}
