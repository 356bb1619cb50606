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

// Access is what a user has credentials in. The zero value has none.
type Access struct {
	// Getenv returns a variable, nil means that none is set.
	Getenv func(name string) string
	// Home is where .netrc is, "" for none.
	Home string
	// Token returns an access token for the Python repositories of Google's Artifact Registry, nil for none.
	Token func(context.Context) (string, error)

	root string // of the machine's own files, "" for /
}

func (a Access) getenv(name string) string {
	if a.Getenv == nil {
		return ""
	}
	return a.Getenv(name)
}

// named returns the credentials that variables of uv or Poetry have for the name of an index.
func (a Access) named(name string) *url.Userinfo {
	name = lazyregexp.Of(variableName).ReplaceAllString(strings.ToUpper(name), "_")
	for _, prefix := range []string{"UV_INDEX_", "POETRY_HTTP_BASIC_"} {
		user, password := a.getenv(prefix+name+"_USERNAME"), a.getenv(prefix+name+"_PASSWORD")
		if user+password != "" {
			return url.UserPassword(user, password)
		}
	}
	return nil
}

// variableName matches what can't be in the name of a variable.
const variableName = `[^A-Z0-9]`

// logins returns the credentials in .netrc. As for pip and uv, one that can't be read has none.
func (a Access) logins() func(host string) (user, password string, ok bool) {
	name := a.getenv("NETRC")
	if name == "" && a.Home != "" {
		name = filepath.Join(a.Home, ".netrc")
	}
	text, _ := os.ReadFile(name)
	return NetrcLogins(string(text))
}

// Authorize adds credentials to sources that have none: those in .netrc, or Google's token.
func (a Access) Authorize(ctx context.Context, s *Sources) (err error) {
	logins := a.logins()
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
			if source.login, err = a.login(ctx, source.url, logins); err != nil {
				return err
			}
		}
	}
	return nil
}

// login returns the credentials for the host of a URL, which must be its own: those that .netrc has for
// every host don't count.
func (a Access) login(ctx context.Context, u *url.URL, logins func(string) (string, string, bool)) (*url.Userinfo, error) {
	user, password, ok := logins(u.Hostname())
	otherUser, otherPassword, _ := logins("")
	if ok && (user != otherUser || password != otherPassword) {
		return url.UserPassword(user, password), nil
	}
	if a.Token == nil || !isGoogle(u) {
		return nil, nil
	}
	token, err := a.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("getting an access token for %s: %w", u.Host, err)
	}
	return url.UserPassword("oauth2accesstoken", token), nil
}

// WithLogins returns the sources of requirements with the credentials for their hosts, if there are any and
// they use TLS.
func (a Access) WithLogins(ctx context.Context, sources []Source) (_ []Source, err error) {
	sources, logins := slices.Clone(sources), a.logins()
	for i := range sources {
		if s := &sources[i]; s.url != nil && s.url.Scheme == "https" && s.login == nil {
			if s.login, err = a.login(ctx, s.url, logins); err != nil {
				return nil, err
			}
		}
	}
	return sources, nil
}

// HasLogin returns what reports whether there are credentials for the host of a URL.
func (a Access) HasLogin(ctx context.Context) func(*url.URL) bool {
	logins, hasToken := a.logins(), a.Token != nil
	a.Token = nil
	return func(u *url.URL) bool {
		login, _ := a.login(ctx, u, logins) // which needs no token
		return login != nil || hasToken && isGoogle(u)
	}
}

// isGoogle reports whether a URL is one of Artifact Registry's Python repositories.
func isGoogle(u *url.URL) bool {
	return u.Scheme == "https" && strings.HasSuffix(u.Hostname(), "-python.pkg.dev")
}

// Client returns a client that adds credentials to requests, also after a redirect. A request for the scheme and host
// of a source gets the source's; if several match, those of the source that shares most of the path. Others, if they use
// TLS, get what .netrc has for the host, or Google's token. c is what makes the requests, nil means http.DefaultClient.
func (a Access) Client(c *http.Client, s Sources) *http.Client {
	with := *cmp.Or(c, http.DefaultClient)
	with.Transport = &authorized{
		next: cmp.Or(with.Transport, http.DefaultTransport), access: a, logins: a.logins(), sources: slices.Concat(s.Indexes, s.Links, s.Others),
	}
	return &with
}

type authorized struct {
	next    http.RoundTripper
	access  Access
	logins  func(host string) (user, password string, ok bool)
	sources []Source
}

func (t *authorized) RoundTrip(request *http.Request) (*http.Response, error) {
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

func (t *authorized) login(request *http.Request) (*url.Userinfo, error) {
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
	return t.access.login(request.Context(), request.URL, t.logins)
}

// sameParts returns how many parts two paths have in common at their beginning.
func sameParts(one, other string) (n int) {
	a, b := strings.Split(one, "/"), strings.Split(other, "/")
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
