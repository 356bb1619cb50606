package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"
)

// BucketScheme begins the URL of a store in a Cloud Storage bucket.
const BucketScheme = "gs://"

// gsStore keeps objects in a bucket, all under one prefix.
type gsStore struct {
	bucket string
	prefix string // "", or ends in a slash
	create string // how to create the bucket, for messages
	// batchWithin limits the time for one batch of calls, including its answer.
	batchWithin time.Duration
	sizes       sizes

	mu     sync.Mutex
	client *gsClient // nil until the first request
}

// openBucket opens the store at a URL like gs://bucket or gs://bucket/prefix.
func openBucket(rawURL string) (Store, error) {
	path, _ := strings.CutPrefix(rawURL, BucketScheme)
	bucket, prefix, _ := strings.Cut(strings.TrimSuffix(path, "/"), "/")
	if bucket == "" {
		return nil, fmt.Errorf("store %q: expected gs://BUCKET or gs://BUCKET/PREFIX", rawURL)
	}
	if prefix != "" {
		if err := checkName(prefix); err != nil {
			return nil, fmt.Errorf("store %q: invalid prefix: %w", rawURL, err)
		}
		prefix += "/"
	}
	create := fmt.Sprintf("create it with: gcloud storage buckets create gs://%s, or name another with --store or KINETIC_STORE", bucket)
	return &gsStore{bucket: bucket, prefix: prefix, create: create, batchWithin: answerWithin, sizes: defaultSizes()}, nil
}

func (s *gsStore) URL() string {
	return strings.TrimSuffix(BucketScheme+s.bucket+"/"+s.prefix, "/")
}

// full returns the name of an object for messages.
func (s *gsStore) full(name string) string { return s.URL() + "/" + name }

// connect reads credentials and makes the client, once. It doesn't remember a failure:
// the next call tries again.
func (s *gsStore) connect(ctx context.Context) (*gsClient, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		client, err := newGSClient(ctx)
		if err != nil {
			return nil, fmt.Errorf("opening %s: %w", s.URL(), err)
		}
		s.client = client
	}
	return s.client, nil
}

func (s *gsStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil
	}
	return s.client.Close()
}

// request is one operation on the bucket, with its retries.
type request struct {
	*retryPolicy
	store  *gsStore
	client *gsClient
	need   need
	name   string // relative to the store
}

// begin prepares an operation that needs a permission on an object, or on a prefix to list, which alone may be empty.
func (s *gsStore) begin(ctx context.Context, n need, name string) (*request, error) {
	if name == "" && n != toList {
		return nil, checkName(name)
	}
	client, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	return &request{retryPolicy: newRetryPolicy(client.transport), store: s, client: client, need: n, name: name}, nil
}

// bucket returns a handle that retries for as long as its policy allows. Every operation
// is safe to repeat, so the policy is not the library's default, which retries less.
func (r *request) bucket() *storage.BucketHandle {
	return r.client.Bucket(r.store.bucket).Retryer(storage.WithPolicy(storage.RetryAlways),
		storage.WithBackoff(pauses()), storage.WithErrorFunc(r.retry))
}

func (r *request) object() *storage.ObjectHandle {
	return r.bucket().Object(r.store.prefix + r.name)
}

// Open streams an object. If the connection breaks, reading continues from there. The
// whole object is checked against its CRC-32C.
func (s *gsStore) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	req, err := s.begin(ctx, toRead, name)
	if err != nil {
		return nil, err
	}
	r, err := req.object().NewReader(ctx)
	return req.reading(ctx, r, err)
}

// OpenRange names the generation, so that all ranges are of the same bytes.
func (s *gsStore) OpenRange(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error) {
	req, err := s.begin(ctx, toRead, o.Name)
	if err != nil {
		return nil, err
	}
	r, err := req.object().Generation(o.Generation).NewRangeReader(ctx, offset, length)
	return req.reading(ctx, r, err)
}

// reading returns the reader of an object that was opened, or the error that was met.
func (r *request) reading(ctx context.Context, object *storage.Reader, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	return &gsReader{Reader: object, policy: r.retryPolicy, explain: func(err error) error { return r.explain(ctx, err) }}, nil
}

// gsReader explains errors, and forgets earlier ones whenever it has read something.
type gsReader struct {
	*storage.Reader
	policy  *retryPolicy
	explain func(error) error
}

func (r *gsReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 {
		r.policy.reset()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.explain(err)
	}
	return n, err
}

// List reads a page at a time. Buckets list in the order of names.
func (s *gsStore) List(ctx context.Context, prefix, start string) iter.Seq2[Object, error] {
	query := storage.Query{Prefix: s.prefix + prefix}
	if start != "" {
		query.StartOffset = s.prefix + start
	}
	return func(yield func(Object, error) bool) {
		for a, err := range s.list(ctx, prefix, query, "Name", "Size", "Updated", "Generation", "CRC32C", "Metadata") {
			if err != nil {
				yield(Object{}, err)
				return
			}
			delete(a.Metadata, writerKey)
			if !yield(Object{Name: strings.TrimPrefix(a.Name, s.prefix), Size: a.Size, Updated: a.Updated, Generation: a.Generation,
				CRC32C: &a.CRC32C, Metadata: a.Metadata}, nil) {
				return
			}
		}
	}
}

func (s *gsStore) Dirs(ctx context.Context, prefix string) ([]string, error) {
	var dirs []string
	for a, err := range s.list(ctx, "", storage.Query{Prefix: s.prefix + prefix, Delimiter: "/"}, "Name") {
		if err != nil {
			return dirs, err
		}
		if a.Prefix != "" { // else an object next to the directories
			dirs = append(dirs, strings.TrimSuffix(strings.TrimPrefix(a.Prefix, s.prefix), "/"))
		}
	}
	slices.Sort(dirs) // with their slashes, "a-b/" came before "a/"
	return dirs, nil
}

// list yields every result of a query, with only these fields.
func (s *gsStore) list(ctx context.Context, prefix string, query storage.Query, fields ...string) iter.Seq2[*storage.ObjectAttrs, error] {
	return func(yield func(*storage.ObjectAttrs, error) bool) {
		req, err := s.begin(ctx, toList, prefix)
		if err != nil {
			yield(nil, err)
			return
		}
		query.Projection = storage.ProjectionNoACL
		if err := query.SetAttrSelection(fields); err != nil {
			yield(nil, err)
			return
		}
		found := req.bucket().Objects(ctx, &query)
		for {
			attrs, err := found.Next()
			if errors.Is(err, iterator.Done) {
				return
			}
			if err != nil {
				yield(nil, req.explain(ctx, err))
				return
			}
			req.reset()
			if !yield(attrs, nil) {
				return
			}
		}
	}
}
