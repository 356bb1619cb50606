package image

import (
	"context"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
)

// A TokenFunc returns an access token for Google's services.
type TokenFunc func(ctx context.Context) (string, error)

// Keychain returns the credentials for registries: for Google's the access token, if there
// is one, and else what others has, which is usually authn.DefaultKeychain: the
// configuration of Docker. Nothing is asked before the first request to a registry. The
// context is for requests that come without one.
func Keychain(ctx context.Context, token TokenFunc, others authn.Keychain) authn.Keychain {
	return keychain{ctx, token, others}
}

type keychain struct {
	ctx    context.Context
	token  TokenFunc
	others authn.Keychain
}

func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return k.ResolveContext(k.ctx, target)
}

// ResolveContext implements authn.ContextKeychain. Without a token, the request may succeed
// all the same: Docker may know another way, and many images are public.
func (k keychain) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	if k.token != nil && google(target.RegistryStr()) {
		if _, err := k.token(ctx); err == nil {
			return bearer(k), nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return authn.Resolve(ctx, k.others, target)
}

// google reports whether a registry takes Google's access tokens, and needs one.
func google(host string) bool {
	return host != mirror && (host == "gcr.io" || strings.HasSuffix(host, ".gcr.io") || strings.HasSuffix(host, ".pkg.dev"))
}

// bearer asks for the token each time, since it expires after an hour.
type bearer keychain

func (b bearer) Authorization() (*authn.AuthConfig, error) {
	return b.AuthorizationContext(b.ctx)
}

func (b bearer) AuthorizationContext(ctx context.Context) (*authn.AuthConfig, error) {
	token, err := b.token(ctx)
	if err != nil {
		return nil, err
	}
	return &authn.AuthConfig{Username: "oauth2accesstoken", Password: token}, nil
}
