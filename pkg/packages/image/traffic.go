package image

import (
	"io"
	"net/http"
	"sync/atomic"
)

type traffic struct {
	base    http.RoundTripper
	changed func() // called after bytes were sent; by several goroutines
	sent    atomic.Int64
}

func (t *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return t.base.RoundTrip(r)
	}
	counted := r.Clone(r.Context())
	counted.Body = &sentBody{r.Body, t}
	if r.GetBody != nil {
		counted.GetBody = func() (io.ReadCloser, error) {
			body, err := r.GetBody()
			return &sentBody{body, t}, err
		}
	}
	return t.base.RoundTrip(counted)
}

// sentBody counts the bytes of a request's body.
type sentBody struct {
	io.ReadCloser
	traffic *traffic
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.traffic.sent.Add(int64(n))
		b.traffic.changed()
	}
	return n, err
}
