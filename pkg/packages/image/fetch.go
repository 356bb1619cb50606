package image

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Fetch returns a temporary file with a wheel, whose hash was checked. The caller closes and
// removes it. A wheel with a URL is fetched with from.
func (c *Client) Fetch(ctx context.Context, from *http.Client, w wheel.Source) (*os.File, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	create := func() (*os.File, error) { return os.CreateTemp(c.TempDir, "kinetic-wheel-") }
	return fetcher{cmp.Or(from, http.DefaultClient), create}.fetch(ctx, w)
}

// fetcher downloads wheels into temporary files. A wheel is used only after the SHA-256 of the
// whole file was checked.
type fetcher struct {
	client *http.Client
	create func() (*os.File, error) // makes a temporary file
}

// fetch returns the file of a wheel. The caller closes and removes it. If the network fails, it tries again.
func (f fetcher) fetch(ctx context.Context, w wheel.Source) (*os.File, error) {
	const attempts = 4
	to, err := f.create()
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", w.File, err)
	}
	var wait backoff.Timer
	err = wait.Attempts(ctx, attempts, backoff.IsPassing, func() error {
		err := f.copy(ctx, w, to)
		if !backoff.IsPassing(err) {
			return err
		}
		_, failed := to.Seek(0, io.SeekStart) // for the next attempt
		if failed = errors.Join(failed, to.Truncate(0)); failed != nil {
			return fmt.Errorf("store %s: %w", w.File, failed)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, discard(to))
	}
	return to, nil
}

func discard(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// copy copies a wheel into an empty file, and checks it.
func (f fetcher) copy(ctx context.Context, w wheel.Source, to *os.File) error {
	from, err := f.open(ctx, w)
	if err != nil {
		return fmt.Errorf("fetch %s from %s: %w", w.File, placeOf(w), err)
	}
	defer from.Close()
	content := io.Reader(from)
	if w.Size > 0 {
		content = io.LimitReader(from, w.Size+1)
	}
	sum, failing := sha256.New(), &reading{Reader: content}
	size, err := io.Copy(io.MultiWriter(to, sum), failing)
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case failing.err != nil:
		return fmt.Errorf("fetch %s from %s: %w", w.File, placeOf(w), backoff.Passing(failing.err))
	case err != nil:
		return fmt.Errorf("store %s: %w; free some space, or set TMPDIR to a larger directory", w.File, err)
	case w.Size > 0 && size != w.Size:
		return fmt.Errorf("%s from %s does not have the %d bytes that its lock states; make the lock again, and find out who changed the file", w.File, placeOf(w), w.Size)
	case got != w.SHA256:
		return fmt.Errorf("%s from %s has the SHA-256 %s, and its lock states %s; make the lock again, and find out who changed the file", w.File, placeOf(w), got, w.SHA256)
	}
	return nil
}

// reading keeps the error of a reader, so that it can be told from that of the writer.
type reading struct {
	io.Reader
	err error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// Sizes returns the sizes of wheels, 0 where nobody says. Those that are not known are asked for with
// from, and nothing is fetched.
func (c *Client) Sizes(ctx context.Context, from *http.Client, wheels []wheel.Source) ([]int64, error) {
	return fetcher{client: cmp.Or(from, http.DefaultClient)}.sizes(ctx, wheels, func(int) bool { return false })
}

// sizes returns the sizes of wheels. Not every resolver tells them; then the server that has the
// wheel does, if it wants to. It is not asked for those to skip.
func (f fetcher) sizes(ctx context.Context, wheels []wheel.Source, skip func(i int) bool) ([]int64, error) {
	sizes := make([]int64, len(wheels))
	parallel.Each(readers, wheels, func(i int, w wheel.Source) {
		if sizes[i] = w.Size; w.Size <= 0 && w.Path == "" && !skip(i) {
			sizes[i] = f.size(ctx, w)
		}
	})
	return sizes, context.Cause(ctx)
}

// size asks how large a wheel is; 0 if nobody says.
func (f fetcher) size(ctx context.Context, w wheel.Source) int64 {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, w.URL, nil)
	if err != nil {
		return 0
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0
	}
	return max(answer.ContentLength, 0)
}

func (f fetcher) open(ctx context.Context, w wheel.Source) (io.ReadCloser, error) {
	if w.Path != "" {
		return os.Open(w.Path)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL, nil)
	if err != nil {
		return nil, errors.New("that is not a URL")
	}
	answer, err := f.client.Do(request)
	if err != nil {
		// It would show the URL, which may have credentials.
		if shown := new(url.Error); errors.As(err, &shown) {
			err = shown.Err
		}
		return nil, backoff.Passing(err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	answer.Body.Close() //nolint:errcheck // nothing is read from it
	return nil, refused(answer.StatusCode)
}

func refused(code int) error {
	err := fmt.Errorf("the answer is %d %s", code, http.StatusText(code))
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("%w; check the credentials for this index: they come from its URL, from variables, ~/.netrc or pip.conf, not from uv.toml or a keyring", err)
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("%w; the file was removed, make the lock again", err)
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError:
		return backoff.Passing(err)
	}
	return err
}

// placeOf says where a wheel comes from, without what may be a secret, such as a token in the path.
func placeOf(w wheel.Source) string {
	if w.Path != "" {
		return w.Path
	}
	u, err := url.Parse(w.URL)
	if err != nil {
		return "its URL"
	}
	return u.Scheme + "://" + u.Host
}
