package resolve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// namedLogin returns the credentials that variables of uv or Poetry have for the name of an index.
func (r Resolver) namedLogin(name string) *url.Userinfo {
	name = lazyregexp.Of(variableName).ReplaceAllString(strings.ToUpper(name), "_")
	for _, prefix := range []string{"UV_INDEX_", "POETRY_HTTP_BASIC_"} {
		user, password := r.getenv(prefix+name+"_USERNAME"), r.getenv(prefix+name+"_PASSWORD")
		if user+password != "" {
			return url.UserPassword(user, password)
		}
	}
	return nil
}

// variableName matches what can't be in the name of a variable.
const variableName = `[^A-Z0-9]`

// netrcLogins returns the credentials in .netrc. As for pip and uv, one that can't be read has none.
func (r Resolver) netrcLogins() func(host string) (user, password string, ok bool) {
	name := r.getenv("NETRC")
	if name == "" && r.Home != "" {
		name = filepath.Join(r.Home, ".netrc")
	}
	text, _ := os.ReadFile(name)
	return NetrcLogins(string(text))
}

// authorize adds credentials to sources that have none: those in .netrc, or Google's token.
func (r Resolver) authorize(ctx context.Context, s *Sources) (err error) {
	logins := r.netrcLogins()
	for _, sources := range [][]Source{s.Indexes, s.Links, s.Others} {
		for i := range sources {
			source := &sources[i]
			if source.url == nil || source.Dir != "" || source.login != nil {
				continue
			}
			if user, password, ok := logins(source.url.Hostname()); ok && !isGoogle(source.url) {
				source.login = url.UserPassword(user, password)
				continue
			}
			if source.login, err = r.login(ctx, source.url, logins); err != nil {
				return err
			}
		}
	}
	return nil
}

// login returns the credentials for the host of a URL, which must be its own: those that .netrc has for
// every host don't count.
func (r Resolver) login(ctx context.Context, u *url.URL, logins func(string) (string, string, bool)) (*url.Userinfo, error) {
	user, password, ok := logins(u.Hostname())
	otherUser, otherPassword, _ := logins("")
	if ok && (user != otherUser || password != otherPassword) {
		return url.UserPassword(user, password), nil
	}
	if r.Token == nil || !isGoogle(u) {
		return nil, nil
	}
	token, err := r.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("getting an access token for %s: %w", u.Host, err)
	}
	return url.UserPassword("oauth2accesstoken", token), nil
}

// withLogins returns the sources of requirements with the credentials for their hosts, if there are any and
// they use TLS.
func (r Resolver) withLogins(ctx context.Context, sources []Source) (_ []Source, err error) {
	sources, logins := slices.Clone(sources), r.netrcLogins()
	for i := range sources {
		if s := &sources[i]; s.url != nil && s.url.Scheme == "https" && s.login == nil {
			if s.login, err = r.login(ctx, s.url, logins); err != nil {
				return nil, err
			}
		}
	}
	return sources, nil
}

// hasLogin returns what reports whether there are credentials for the host of a URL.
func (r Resolver) hasLogin(ctx context.Context) func(*url.URL) bool {
	logins, hasToken := r.netrcLogins(), r.Token != nil
	r.Token = nil
	return func(u *url.URL) bool {
		login, _ := r.login(ctx, u, logins) // which needs no token
		return login != nil || hasToken && isGoogle(u)
	}
}

// isGoogle reports whether a URL is one of Artifact Registry's Python repositories.
func isGoogle(u *url.URL) bool {
	return u.Scheme == "https" && strings.HasSuffix(u.Hostname(), "-python.pkg.dev")
}

// clientFor returns a client that adds credentials to requests, also after a redirect. A request for the scheme and host
// of a source gets the source's; if several match, those of the source that shares most of the path. Others, if they use
// TLS, get what .netrc has for the host, or Google's token.
func (r Resolver) clientFor(s Sources) *http.Client {
	with := *cmp.Or(r.HTTP, http.DefaultClient)
	with.Transport = &authorizing{
		next: cmp.Or(with.Transport, http.DefaultTransport), resolver: r, logins: r.netrcLogins(), sources: slices.Concat(s.Indexes, s.Links, s.Others),
	}
	return &with
}

type authorizing struct {
	next     http.RoundTripper
	resolver Resolver
	logins   func(host string) (user, password string, ok bool)
	sources  []Source
}

func (t *authorizing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Header.Get("Authorization") != "" {
		return t.next.RoundTrip(request)
	}
	login, err := t.login(request)
	if err != nil {
		return nil, err
	}
	if login != nil {
		password, _ := login.Password()
		request = request.Clone(request.Context())
		request.SetBasicAuth(login.Username(), password)
	}
	return t.next.RoundTrip(request)
}

func (t *authorizing) login(request *http.Request) (*url.Userinfo, error) {
	known, most := false, -1
	var login *url.Userinfo
	for _, s := range t.sources {
		if s.url == nil || s.url.Scheme != request.URL.Scheme || s.url.Host != request.URL.Host {
			continue
		}
		known = true
		if same := sameParts(s.url.Path, request.URL.Path); s.login != nil && same > most {
			most, login = same, s.login
		}
	}
	if login != nil {
		return login, nil
	}
	if known && !isGoogle(request.URL) {
		if user, password, ok := t.logins(request.URL.Hostname()); ok {
			return url.UserPassword(user, password), nil
		}
	}
	if request.URL.Scheme != "https" {
		return nil, nil
	}
	return t.resolver.login(request.Context(), request.URL, t.logins)
}

// sameParts returns how many parts two paths have in common at their beginning.
func sameParts(one, other string) (n int) {
	a, b := strings.Split(one, "/"), strings.Split(other, "/")
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
