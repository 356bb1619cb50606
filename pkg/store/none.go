package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// ErrNone is the error of every use of a store that doesn't exist.
var ErrNone = errors.New("there is no store")

// None returns a stand-in for an unknown store, which may or may not be needed. Its URL
// is "", and every use of it returns an error that is ErrNone and wraps why.
func None(why error) Store { return none{fmt.Errorf("%w: %w", ErrNone, why)} }

type none struct{ err error }

func (none) URL() string  { return "" }
func (none) Close() error { return nil }

func (n none) Create(context.Context, string, io.Reader, map[string]string) error { return n.err }

func (n none) Replace(context.Context, Object, io.Reader, map[string]string) error { return n.err }

func (n none) CreateLarge(context.Context, string, string, int64, func() (io.ReadCloser, error)) error {
	return n.err
}

func (n none) PutBlob(context.Context, string, int64, func() (io.ReadCloser, error)) (bool, error) {
	return false, n.err
}

func (none) HasBlob(context.Context, api.IndexBlob) bool { return false }

func (n none) OpenRange(context.Context, Object, int64, int64) (io.ReadCloser, error) {
	return nil, n.err
}

func (n none) DeleteListed(context.Context, Object) (bool, error) { return false, n.err }

func (none) Now() time.Time { return time.Now() }

func (none) HasBlobs(context.Context, []api.IndexBlob) map[string]bool { return nil }

func (n none) Open(context.Context, string) (io.ReadCloser, error) { return nil, n.err }
func (n none) Dirs(context.Context, string) ([]string, error)      { return nil, n.err }
func (n none) Delete(context.Context, string) error                { return n.err }

func (n none) List(context.Context, string, string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) { yield(Object{}, n.err) }
}
