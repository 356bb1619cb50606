package resolve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// maxText is the size of the largest file of requirements that is fetched. Airflow's constraints have 30 KB.
const maxText = 4 << 20

// unfetchable returns the *MistakeError about a file that can't be fetched because what names it is wrong: it is not
// there, or its URL can't be used.
func unfetchable(address string, why error) error { return &MistakeError{fetching(address, why)} }

func fetching(address string, why error) error {
	return fmt.Errorf("fetching %s: %w", deps.Hidden(address), why)
}

// Text fetches a file of requirements from an https URL, in which variables are replaced, with the credentials that
// belong to its host, which a file that was fetched may have named. It is asked for again if that fails in a
// way that may pass. The error is a *MistakeError if another URL or a variable would help.
func (r Resolver) Text(ctx context.Context, address string) (text []byte, err error) {
	s, err := r.source(optionIndex, address, "")
	if err == nil && (s.url == nil || s.url.Scheme != "https") {
		err = errors.New("only https URLs are fetched")
	}
	if err != nil {
		return nil, unfetchable(address, err)
	}
	var own Sources
	if s.login != nil {
		own.Indexes = []Source{s}
	}
	client := r.clientFor(own)
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if next.URL.Scheme != "https" || len(via) == maxRedirects {
			return unfetchable(address, fmt.Errorf("it redirects to %s", deps.Hidden(next.URL.String())))
		}
		return nil
	}
	var wait backoff.Timer
	err = wait.Attempts(ctx, attempts, backoff.IsPassing, func() error {
		text, err = getText(ctx, client, s.url)
		return err
	})
	var wrong *MistakeError
	if err == nil || ctx.Err() != nil || errors.As(err, &wrong) {
		return text, err
	}
	return nil, fetching(address, err)
}

// maxRedirects is how many redirects are followed, as by Go's client.
const maxRedirects = 10

func getText(ctx context.Context, client *http.Client, u *url.URL) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	var refused *MistakeError
	if errors.As(err, &refused) {
		return nil, refused
	}
	if err != nil {
		return nil, passing(fmt.Errorf("%w: check the network, and the URL", withoutURL(err)))
	}
	defer answer.Body.Close()
	wrong := func(why string) error { return unfetchable(u.String(), errors.New(why)) }
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, wrong("there is no such file (" + answer.Status + ")")
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, wrong("it refuses access (" + answer.Status + "): put credentials in ~/.netrc")
	default:
		return nil, passingStatus(answer)
	}
	text, err := io.ReadAll(&limited{r: answer.Body, left: maxText, full: errLargeText})
	if err != nil && !errors.Is(err, errLargeText) {
		err = passing(err)
	}
	return text, err
}

var errLargeText = fmt.Errorf("it is larger than %d MiB", maxText>>20)
