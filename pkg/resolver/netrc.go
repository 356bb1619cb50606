package resolver

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/index"
)

// Netrc returns the credentials for the indexes of a wish in the form of a netrc file, "" if there
// are none: another machine that resolves the wish needs them. Google's token is not among them: it
// may do more than read packages.
func (r Resolver) Netrc(ctx context.Context, w Wish) (string, error) {
	s, err := r.sources(w)
	if err != nil {
		return "", err
	}
	r.Token = nil
	if err := r.access().Authorize(ctx, &s); err != nil {
		return "", err
	}
	var text strings.Builder
	seen := map[string]bool{}
	for _, source := range slices.Concat(s.All(), s.Others) {
		host, user, password := source.Login()
		if host == "" || seen[host] {
			continue
		}
		seen[host] = true
		fmt.Fprintf(&text, "machine %s login %s password %s\n", host, user, password)
	}
	return text.String(), nil
}

// Private returns what reports whether a URL is on a host that wants credentials for the indexes of
// a wish, as far as that is known.
func (r Resolver) Private(ctx context.Context, w Wish) (func(address string) bool, error) {
	s, err := r.sources(w)
	if err == nil {
		err = r.access().Authorize(ctx, &s)
	}
	hosts := map[string]bool{}
	for _, source := range slices.Concat(s.All(), s.Others) {
		host, _, _ := source.Login()
		hosts[host] = host != ""
	}
	return func(address string) bool {
		u, err := url.Parse(address)
		return err == nil && hosts[u.Hostname()]
	}, err
}

// FromVariables returns the options of pip for the indexes that variables name, without their
// credentials: another machine that resolves the wish does not have the variables.
func (r Resolver) FromVariables(w Wish) ([]string, error) {
	s, err := r.sources(w)
	if err != nil {
		return nil, err
	}
	var options []string
	for _, source := range s.Others {
		if address := source.Plain(); address != "" && address != index.PyPI {
			options = append(options, source.Option+" "+address)
		}
	}
	return options, nil
}
