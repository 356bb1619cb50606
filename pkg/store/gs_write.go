package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	// writerKey is the metadata key by which a client recognizes its own objects.
	writerKey = "writer"
	// starts limits how often an upload starts over that was damaged, or that the server
	// has forgotten.
	starts = 3
	// tries is how often a streamed upload is tried, however long each try takes.
	tries = 5
)

// renewAfter is the age from which a submit renews a blob. Rules of buckets, and jobs prune,
// delete it after 30 days. A data set's document that is found to be younger vouches for
// blobs that were younger when it was written: they may be twice as old. A pod that starts
// later renews all that is older than 20 days.
func renewAfter() time.Duration { return time.Duration(api.Contract.Ages.Blob) * time.Second }

// renewMountedAfter is that age for a file that pods mount. It is greater, since a pod that
// has the file open must open it again.
func renewMountedAfter() time.Duration { return time.Duration(api.Contract.Ages.Mounted) * time.Second }

var errDamaged = errors.New("the content was changed in transit")

// Create holds the object in memory.
func (s *gsStore) Create(ctx context.Context, name string, r io.Reader, metadata map[string]string) error {
	return s.write(ctx, name, r, metadata, storage.Conditions{DoesNotExist: true})
}

// Replace holds the object in memory.
func (s *gsStore) Replace(ctx context.Context, o Object, r io.Reader, metadata map[string]string) error {
	return s.write(ctx, o.Name, r, metadata, storage.Conditions{GenerationMatch: o.Generation})
}

func (s *gsStore) write(ctx context.Context, name string, r io.Reader, metadata map[string]string, condition storage.Conditions) error {
	if err := checkName(name); err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("writing %s: %w", s.full(name), err)
	}
	return s.writeFrom(ctx, name, upload{size: int64(len(data)), metadata: metadata, buffered: true, open: opener(data)}, condition)
}

func (s *gsStore) CreateLarge(ctx context.Context, name, sha256 string, size int64, open func() (io.ReadCloser, error)) error {
	if err := checkName(name); err != nil {
		return err
	}
	return s.writeFrom(ctx, name, upload{size: size, sha256: sha256, open: open}, storage.Conditions{DoesNotExist: true})
}

// writeFrom writes an object on a condition. If that is not met, the error is ErrExists.
func (s *gsStore) writeFrom(ctx context.Context, name string, u upload, condition storage.Conditions) error {
	req, err := s.begin(ctx, toCreate, name)
	if err != nil {
		return err
	}
	u.metadata = sign(u.metadata)
	err = req.upload(ctx, req.object().If(condition), u)
	if !isStatus(err, http.StatusPreconditionFailed) {
		return req.explain(ctx, err)
	}
	return req.isOurs(ctx, u.metadata)
}

// sign adds a random value to metadata, to recognize the object of this call.
func sign(metadata map[string]string) map[string]string {
	signed := map[string]string{writerKey: rand.Text()}
	maps.Copy(signed, metadata)
	return signed
}

// isOurs returns ErrExists unless the object was written with this metadata: after a lost
// answer, the retry of our own write fails.
func (r *request) isOurs(ctx context.Context, signed map[string]string) error {
	attrs, err := r.object().Attrs(ctx)
	if err != nil {
		return r.explain(ctx, err)
	}
	if attrs.Metadata[writerKey] == signed[writerKey] {
		return nil
	}
	return fmt.Errorf("%s %w", r.store.full(r.name), ErrExists)
}

// copyFrom copies an object within Cloud Storage.
func (s *gsStore) copyFrom(ctx context.Context, name string, from *gsStore, old string, metadata map[string]string) error {
	for _, n := range []string{name, old} {
		if err := checkName(n); err != nil {
			return err
		}
	}
	source, err := from.begin(ctx, toCopy, old)
	if err != nil {
		return err
	}
	target, err := s.begin(ctx, toCreate, name)
	if err != nil {
		return err
	}
	copier := target.object().If(storage.Conditions{DoesNotExist: true}).CopierFrom(source.object())
	copier.Metadata = sign(metadata)
	_, err = copier.Run(ctx)
	if isStatus(err, http.StatusPreconditionFailed) {
		return target.isOurs(ctx, copier.Metadata)
	}
	if !isStatus(err, http.StatusForbidden) && !isStatus(err, http.StatusNotFound) {
		return source.explain(ctx, err)
	}
	// The answer doesn't say which of the two objects it is about.
	if _, unread := source.object().Attrs(ctx); unread != nil {
		return source.explain(ctx, unread)
	}
	return target.explain(ctx, err)
}

// PutBlob checks first: an existing blob costs one request. Its age counts because
// buckets of keras-kinetic delete everything after 30 days.
func (s *gsStore) PutBlob(ctx context.Context, sha256 string, size int64, open func() (io.ReadCloser, error)) (bool, error) {
	if !lazyregexp.Of(sha256Pattern).MatchString(sha256) {
		return false, fmt.Errorf("blob name %q: expected 64 lower-case hexadecimal digits", sha256)
	}
	req, err := s.begin(ctx, toRead, Blob(sha256))
	if err != nil {
		return false, err
	}
	found, err := req.look(ctx)
	if err != nil {
		return false, err
	}
	return req.put(ctx, found, upload{size: size, sha256: sha256, open: open, renewAfter: renewAfter()})
}

// look returns what the bucket knows about the object, nil if there is none.
func (r *request) look(ctx context.Context) (*storage.ObjectAttrs, error) {
	r.need = toRead
	attrs, err := r.object().Attrs(ctx)
	if err = r.explain(ctx, err); errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return attrs, err
}

// put makes sure that the bucket has an object for long enough, and reports whether it had to be
// written. found is what the bucket had last, nil for nothing.
func (r *request) put(ctx context.Context, found *storage.ObjectAttrs, u upload) (bool, error) {
	for range starts {
		missing, err := r.missing(ctx, found, u)
		if err != nil || missing == nil {
			return false, err
		}
		r.need = toCreate
		err = r.upload(ctx, r.object().If(*missing), u)
		if !isStatus(err, http.StatusPreconditionFailed) {
			return err == nil, r.explain(ctx, err)
		}
		// Someone else was faster, perhaps with an upload that was cut off.
		if found, err = r.look(ctx); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("writing %s: too many concurrent writers; try again", r.store.full(r.name))
}

// missing returns nil if the bucket has the object for long enough, else the condition
// under which to write it. It replaces an object of another size, which is of no use to
// anyone.
func (r *request) missing(ctx context.Context, found *storage.ObjectAttrs, u upload) (*storage.Conditions, error) {
	if found == nil {
		return &storage.Conditions{DoesNotExist: true}, nil
	}
	if found.Size != u.size {
		return &storage.Conditions{GenerationMatch: found.Generation}, nil
	}
	if r.age(found) < u.renewAfter {
		return nil, nil
	}
	r.need = toRenew
	err := r.renew(ctx, found.Generation, u.metadata)
	if isStatus(err, http.StatusPreconditionFailed) { // someone else has renewed it, or deleted it
		if found, err = r.look(ctx); found != nil {
			return nil, nil
		}
	}
	if err = r.explain(ctx, err); err == nil && found == nil || errors.Is(err, ErrNotFound) {
		return &storage.Conditions{DoesNotExist: true}, nil
	}
	return nil, err
}

func (r *request) age(found *storage.ObjectAttrs) time.Duration {
	return r.client.transport.ServerTime(time.Now()).Sub(found.Created)
}

// renew makes an object young by copying it onto itself. nil keeps its metadata.
func (r *request) renew(ctx context.Context, generation int64, metadata map[string]string) error {
	o := r.object()
	copier := o.If(storage.Conditions{GenerationMatch: generation}).CopierFrom(o.Generation(generation))
	copier.Metadata = metadata
	_, err := copier.Run(ctx)
	return err
}

type upload struct {
	size     int64
	sha256   string // "" if unknown, or if the source checks its bytes itself
	metadata map[string]string
	open     func() (io.ReadCloser, error)
	// renewAfter is the age from which an object that is there is renewed.
	renewAfter time.Duration
	// buffered means that the object is in memory anyway.
	buffered bool
}

// sizes decide how an object is sent. They are in bytes.
type sizes struct {
	// part is the size of the largest object that is streamed.
	part int64
	// chunk is how much of any other object is sent in one request, and is held in memory for
	// retries. Smaller objects are sent whole.
	chunk int64
}

func defaultSizes() sizes { return sizes{part: api.Contract.Limits.Part, chunk: 16 << 20} }

// streams reports whether an object is sent in one request, straight from its source: it is
// a blob or a file as pack has them, whose source can be opened again. Other objects pass
// through a buffer, from which the library sends what was lost again.
func (s sizes) streams(u upload) bool { return !u.buffered && u.size <= s.part }

// upload sends an object, and starts over if it was damaged or a resumable upload was lost.
func (r *request) upload(ctx context.Context, o *storage.ObjectHandle, u upload) error {
	var err error
	for range starts {
		r.reset()
		err = r.persist(ctx, o, u)
		chunked := !r.store.sizes.streams(u) && u.size >= r.store.sizes.chunk
		lost := chunked && (isStatus(err, http.StatusNotFound) || isStatus(err, http.StatusGone))
		if !lost && !errors.Is(err, errDamaged) {
			break
		}
	}
	return err
}

// persist makes one upload. It retries what is streamed itself: for as long as anything is
// retried, and a few times more if that took longer.
func (r *request) persist(ctx context.Context, o *storage.ObjectHandle, u upload) error {
	pause := pauses()
	for try := 1; ; try++ {
		err := r.send(ctx, o, u)
		if err == nil || !r.store.sizes.streams(u) || ctx.Err() != nil || !r.retry(err) && (try >= tries || !r.temporary(err)) {
			return err
		}
		if err := gax.Sleep(ctx, pause.Pause()); err != nil {
			return err
		}
	}
}

// send makes one upload. Bytes that are not the promised ones, or change on the way,
// never become an object.
func (r *request) send(ctx context.Context, o *storage.ObjectHandle, u upload) error {
	source, err := u.open()
	if err != nil {
		return err
	}
	defer source.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := o.NewWriter(ctx)
	w.Metadata = u.metadata
	w.ChunkSize = int(min(u.size+1, r.store.sizes.chunk)) // the last chunk is one that is not full
	if r.store.sizes.streams(u) {
		w.ChunkSize = 0
		w.DisableAutoChecksum = true // verify does that, and removes what is damaged
	}
	w.ChunkRetryDeadline = retryTime
	w.ProgressFunc = func(int64) { r.reset() }
	checked := newVerifyReader(source, u.sha256, u.size)
	if _, err := io.Copy(w, checked); err != nil {
		// Close would make the object, by sending the end of the body; after cancel it
		// doesn't: see unended.
		cancel()
		_ = w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.verify(ctx, w.Attrs(), checked)
}

// verify checks the result of an upload. Cloud Storage compares the checksum itself; an
// emulator may not, and keeps bytes twice that were sent twice.
func (r *request) verify(ctx context.Context, got *storage.ObjectAttrs, sent *verifyReader) error {
	if got.Size == sent.n && got.CRC32C == sent.crc {
		return nil
	}
	damaged := r.object().If(storage.Conditions{GenerationMatch: got.Generation})
	return errors.Join(errDamaged, damaged.Delete(ctx))
}
