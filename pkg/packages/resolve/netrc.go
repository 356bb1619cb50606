package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// Netrc returns the credentials for the indexes and the URLs of a wish in the form of a netrc file, ""
// if there are none: another machine that resolves the wish needs them. packages are those of a lock.
// Google's token is not among them: it may do more than read packages. Such a file has one login for each host:
// the first. others are the hosts that have another one, too.
func (r Resolver) Netrc(ctx context.Context, w Request, packages []deps.Package) (text string, others []string, err error) {
	needed, possible, err := r.logins(ctx, w, packages)
	if err != nil {
		return "", nil, err
	}
	logins := map[string]string{}
	for _, source := range slices.Concat(needed, possible) {
		host, user, password := source.Login()
		line, err := machineLine(host, user, password, w.Target.Python)
		if err != nil {
			return "", nil, &MistakeError{err}
		}
		if logins[host] == "" {
			logins[host] = line
			text += line
		} else if logins[host] != line && !slices.Contains(others, host) {
			others = append(others, host)
		}
	}
	return text, others, nil
}

// Hosts returns the hosts for which there are credentials that a machine which resolves a wish needs, and
// those for which it possibly needs them: .netrc has them, but a requirement's URL can be public.
func (r Resolver) Hosts(ctx context.Context, w Request, packages []deps.Package) (needed, possible []string, err error) {
	n, p, err := r.logins(ctx, w, packages)
	return hostsOf(n), hostsOf(p), err
}

func hostsOf(sources []Source) (hosts []string) {
	for _, s := range sources {
		if host, _, _ := s.Login(); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// logins returns the sources for Hosts: all that are needed, and one for each host that possibly is.
func (r Resolver) logins(ctx context.Context, w Request, packages []deps.Package) (needed, possible []Source, err error) {
	s, err := r.sources(w)
	if err != nil {
		return nil, nil, err
	}
	r.Token = nil
	if err := r.authorize(ctx, &s); err != nil {
		return nil, nil, err
	}
	direct, err := r.direct(w, packages)
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{"": true}
	for _, source := range slices.Concat(s.All(), s.Others, direct) {
		if host, _, _ := source.Login(); host != "" {
			needed, seen[host] = append(needed, source), true
		}
	}
	if direct, err = r.withLogins(ctx, direct); err != nil {
		return nil, nil, err
	}
	for _, source := range direct {
		if host, _, _ := source.Login(); !seen[host] {
			possible, seen[host] = append(possible, source), true
		}
	}
	return needed, possible, nil
}

// machineLine returns the line of a netrc file for a host, as Python's netrc module reads it, which
// pip uses. It rejects the whole file for one mistake. Before 3.11 it needs a password, and knows
// neither quotes nor escapes.
func machineLine(host, user, password, python string) (string, error) {
	old := slices.Contains([]string{"3.8", "3.9", "3.10"}, python)
	line := "machine " + host
	for _, v := range []struct{ name, value string }{{"login", user}, {"password", password}} {
		word, ok := netrcWord(v.value, old)
		switch {
		case strings.ContainsAny(v.value, "\r\n\x00"):
			return "", fmt.Errorf("the credentials for %s: the %s has a line break: correct it", host, v.name)
		case !ok:
			return "", fmt.Errorf("the credentials for %s: pip for Python %s can't read a %s with whitespace or non-ASCII characters: choose a newer Python with --python", host, python, v.name)
		case v.value != "":
			line += " " + v.name + " " + word
		case !old && v.name == "password": // a token has none, but the line needs one
			line += ` password ""`
		case old && v.name == "password":
			return "", fmt.Errorf("the credentials for %s have no password, and pip of Python %s needs one: choose a newer Python with --python", host, python)
		}
	}
	return line + "\n", nil
}

// netrcWord returns a value as it is written in a netrc file, and whether it can be.
func netrcWord(value string, old bool) (string, bool) {
	if old {
		return value, !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
	}
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
	if escaped != value || strings.ContainsAny(value, " \t") {
		return `"` + escaped + `"`, true
	}
	return value, true
}

// address matches the beginning of a URL, up to its path.
const address = `https?://(?:[^/\s"]+@)?[^/\s"@?#;]+`

func (r Resolver) direct(w Request, packages []deps.Package) ([]Source, error) {
	lines := slices.Concat(w.Requirements, w.Constraints)
	if w.Kind.IsLock() {
		lines = nil
		for _, p := range packages {
			if p.Wheel != nil {
				p.Source = p.Wheel.URL
			}
			lines = append(lines, deps.Line{Text: p.Source, File: w.Source})
		}
	}
	var hosts []Source
	for _, l := range lines {
		for _, found := range lazyregexp.Of(address).FindAllString(l.Text, -1) {
			s, err := r.readSources([]string{"--find-links " + found}, nil)
			if err != nil {
				return nil, &MistakeError{fmt.Errorf("%s: %q: %w", l.Place(), deps.WithoutUsers(l.Text), errors.Unwrap(err))}
			}
			hosts = append(hosts, s.Links...)
		}
	}
	return hosts, nil
}

// Private returns what reports whether a URL has a signature or the value of a variable, or is on a host that there are
// credentials for, so that a machine without them may not be able to fetch it.
func (r Resolver) Private(ctx context.Context, w Request) (func(address string) bool, error) {
	s, err := r.sources(w)
	if err == nil {
		err = r.authorize(ctx, &s)
	}
	hosts := map[string]bool{}
	for _, source := range slices.Concat(s.All(), s.Others) {
		host, _, _ := source.Login()
		hosts[host] = host != ""
	}
	known, secrets := r.hasLogin(ctx), r.valuesOf(w)
	return func(address string) bool {
		u, err := url.Parse(address)
		return err == nil && (hosts[u.Hostname()] || known(u)) || deps.Signed(address) || slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(address, s) })
	}, err
}

// valuesOf returns the values of the variables in a wish which can be secrets. Those in logins are never part of a URL.
func (r Resolver) valuesOf(w Request) (all []string) {
	const shortest = 8 // a version of CUDA, for instance, is none
	texts := slices.Concat(w.Options, w.AddedOptions)
	for _, l := range slices.Concat(w.Requirements, w.Constraints) {
		texts = append(texts, l.Text)
	}
	for _, text := range texts {
		for _, value := range deps.Values(deps.WithoutUsers(text), r.getenv) {
			if len(value) >= shortest {
				all = append(all, value)
			}
		}
	}
	return all
}

// FromVariables returns the options of pip for the indexes and links that variables and pip's configuration name, without
// their credentials, or that they let no index be asked: another machine that resolves the wish has neither.
func (r Resolver) FromVariables(w Request) ([]string, error) {
	s, err := r.sources(w)
	if err != nil {
		return nil, err
	}
	var options []string
	if s.NoIndex != "" && s.NoIndex != NoIndex {
		options = append(options, NoIndex)
	}
	for _, source := range s.Others {
		if address := source.Plain(); address != "" && address != deps.PyPI {
			options = append(options, source.Option+" "+address)
		}
	}
	return options, nil
}
