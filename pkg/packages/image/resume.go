package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
)

// resuming continues an upload that broke, so that only the rest of a layer is sent again.
//
// A layer is sent in one request, which all registries take. Only after a failure is the registry asked
// what it has of the layer, and sent the rest as a chunk ("Pushing a blob in chunks" and "Resuming an
// upload" in OCI's distribution specification). From a registry that can't say it, or does not take the
// chunk, the first failure is returned, and the layer is sent again from its beginning. Artifact Registry
// takes no chunks at all, and others take small ones only or lose some, so no upload begins with them:
// https://cloud.google.com/artifact-registry/docs/reference/docker-api, aws/containers-roadmap#2831.
type resuming struct {
	base  http.RoundTripper
	repo  name.Repository
	keys  authn.Keychain
	first time.Duration // the first wait before the registry is asked again
}

const (
	// worthResuming is the least number of bytes that must have been sent; less is sent again faster.
	worthResuming = 1 << 20
	// resumptions is how often a registry is asked in a row that got no more of a layer meanwhile. With the
	// waits between them, a connection may be gone for a minute.
	resumptions = 8
)

func (t *resuming) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPatch || r.GetBody == nil || r.ContentLength < worthResuming {
		return t.base.RoundTrip(r)
	}
	counted := &countedBody{ReadCloser: r.Body}
	sent := r.Clone(r.Context())
	sent.Body = counted
	answer, err := t.base.RoundTrip(sent)
	if !broken(answer, err) || counted.read.Load() < worthResuming || r.Context().Err() != nil {
		return answer, err
	}
	resumed := t.resume(r)
	if resumed == nil {
		return answer, err
	}
	if answer != nil {
		answer.Body.Close() //nolint:errcheck // nothing is read from it
	}
	return resumed, nil
}

type countedBody struct {
	io.ReadCloser
	read atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	return n, err
}

// broken reports whether a request has failed in a way that may pass.
func broken(answer *http.Response, err error) bool {
	if err != nil {
		var ours *sourceError
		return !errors.As(err, &ours)
	}
	return answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusRequestTimeout
}

// accepted reports whether a registry has taken all that was sent.
func accepted(answer *http.Response) bool {
	switch answer.StatusCode {
	case http.StatusCreated, http.StatusAccepted, http.StatusNoContent:
		return true
	}
	return false
}

// resume sends what the registry lacks of a request's body, and returns the answer to the last part, nil if
// that can't be done.
func (t *resuming) resume(r *http.Request) *http.Response {
	var client http.RoundTripper
	wait := t.asked(r.Context())
	u := upload{location: r.URL}
	for left := resumptions; left > 0; left-- {
		if wait.Sleep(r.Context()) != nil {
			return nil
		}
		if client == nil {
			var err error
			if client, err = t.login(r.Context()); err != nil {
				continue
			}
		}
		now, answer, err := u.status(r.Context(), client)
		if errors.Is(err, errPassing) {
			continue
		}
		if err != nil || now.size < max(u.size, 1) || now.size > r.ContentLength {
			return nil
		}
		if now.size > u.size { // it may be still writing what it got over the connection that broke
			u, left, wait = now, resumptions+1, t.asked(r.Context())
			continue
		}
		if u.size < r.ContentLength {
			if answer, err = u.rest(r, client); err != nil {
				continue
			}
		}
		if accepted(answer) {
			return answer
		}
		answer.Body.Close() //nolint:errcheck // nothing is read from it
		if !broken(answer, nil) && answer.StatusCode != http.StatusRequestedRangeNotSatisfiable {
			return nil
		}
	}
	return nil
}

// asked returns what waits before the registry is asked again.
func (t *resuming) asked(ctx context.Context) backoff.Timer {
	first := cmp.Or(t.first, time.Second)
	wait := backoff.Timer{First: first, Longest: max(first, 15*time.Second)}
	_ = wait.Sleep(ctx) // the first time not at all
	return wait
}

// login returns what makes requests to the registry. The login with which an upload began may have expired.
func (t *resuming) login(ctx context.Context) (http.RoundTripper, error) {
	auth, err := authn.Resolve(ctx, t.keys, t.repo)
	if err != nil {
		return nil, err
	}
	return transport.NewWithContext(ctx, t.repo.Registry, auth, t.base, []string{t.repo.Scope(transport.PushScope)})
}

// An upload is what a registry has of a layer.
type upload struct {
	location *url.URL // to which the next part goes
	size     int64    // bytes
}

// errPassing means to ask again.
var errPassing = errors.New("the registry does not answer")

// status asks how much of an upload the registry has. It also returns the answer.
func (u upload) status(ctx context.Context, client http.RoundTripper) (upload, *http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.location.String(), nil)
	if err != nil {
		return u, nil, err
	}
	answer, err := client.RoundTrip(request)
	if broken(answer, err) {
		if answer != nil {
			answer.Body.Close() //nolint:errcheck // nothing is read from it
		}
		return u, nil, errPassing
	}
	answer.Body.Close() //nolint:errcheck // nothing is read from it
	// Range is that of the bytes that it has, such as 0-1023.
	from, to, _ := strings.Cut(strings.TrimPrefix(answer.Header.Get("Range"), "bytes="), "-")
	last, err := strconv.ParseInt(to, 10, 64)
	if err != nil || from != "0" || !accepted(answer) {
		return u, nil, fmt.Errorf("%s, with the range %q", answer.Status, answer.Header.Get("Range"))
	}
	next, err := u.location.Parse(answer.Header.Get("Location"))
	if err != nil {
		return u, nil, err
	}
	if next.Host != u.location.Host || next.Scheme != u.location.Scheme { // which would get the layer, too
		return u, nil, fmt.Errorf("the upload is continued at another server, %s", next.Host)
	}
	return upload{next, last + 1}, answer, nil
}

// rest sends what the registry lacks of a request's body. The body is made again up to there: a layer is
// copied from its wheel, and not converted.
func (u upload) rest(r *http.Request, client http.RoundTripper) (*http.Response, error) {
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, body, u.size); err != nil {
		return nil, errors.Join(err, body.Close())
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPatch, u.location.String(), body)
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	request.ContentLength = r.ContentLength - u.size
	request.Header.Set("Content-Type", "application/octet-stream")
	request.Header.Set("Expect", "100-continue") // what the registry refuses is not sent
	request.Header.Set("Content-Range", fmt.Sprintf("%d-%d", u.size, r.ContentLength-1))
	return client.RoundTrip(request)
}
