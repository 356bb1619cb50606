package submit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

// readPayload checks and hashes the payload of a pickled call, and gives the target the name
// of its function.
func (p *Planned) readPayload(t *call.Target, m Machine) (err error) {
	if t.Kind != api.CallPickle {
		return nil
	}
	name := p.request.Payload
	if p.payload, err = call.Read(absolute(name, m.Cwd)); err != nil {
		return fmt.Errorf("--payload %s: %w", name, err)
	}
	t.Function, p.Spec.Payload = p.payload.Function, &p.payload.Payload
	return nil
}

// pickledBy returns how an image is made for the Python that made the payload. The Python of a
// base image of the user's own is only known to the pod, which compares the two.
func (p *Planned) pickledBy(i api.Images) (api.Images, error) {
	python := p.payload.Python
	switch {
	case python == "" || !p.installs() || i.BaseImage != "" || i.BaseImageRepo != "":
		return i, nil
	case i.Python == "":
		i.Python = python
	case i.Python != python:
		return i, fmt.Errorf("--python %s: Python %s made --payload %s, and no other version can read it: omit --python", i.Python, python, p.request.Payload)
	}
	if known := decide.Pythons(); !slices.Contains(known, python) {
		return i, fmt.Errorf("--payload %s: Python %s made it, and there are base images for %s only: name an image that has Python %s with --base-image or --image",
			p.request.Payload, python, strings.Join(known, ", "), python)
	}
	return i, nil
}

// checkCall rejects a call that is too large for the runner.
func checkCall(size int64) error {
	if size <= api.Contract.Limits.Call {
		return nil
	}
	return fmt.Errorf("the arguments take %d MiB, but a call may have at most %d MiB: put large data into a file of the project or into the store, and pass its name",
		size>>20, api.Contract.Limits.Call>>20)
}

// storePayload writes the payload of a pickled call. The error is store.ErrExists if there is
// one.
func (s submission) storePayload(ctx context.Context, j *job.Job, open func() (io.ReadCloser, error)) error {
	if s.Spec.Payload == nil {
		return nil
	}
	err := j.Store.CreateLarge(ctx, store.Payload(j.ID()), s.payload.SHA256, s.payload.Size, open)
	if errors.Is(err, store.ErrMismatch) {
		return fmt.Errorf("--payload %s changed while the job was submitted: %w", s.request.Payload, err)
	}
	return err
}

// replacePayload replaces the payload that a submit left which was interrupted, or lost the
// race for the ID. It leaves one with the same content: a pod may be reading it.
func (s submission) replacePayload(ctx context.Context, j *job.Job, open func() (io.ReadCloser, error)) error {
	name := store.Payload(j.ID())
	same, err := s.isStored(ctx, j, name)
	if same || err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err := j.Store.Delete(ctx, name); err != nil {
		return err
	}
	return s.storePayload(ctx, j, open)
}

func (s submission) isStored(ctx context.Context, j *job.Job, name string) (same bool, err error) {
	r, err := j.Store.Open(ctx, name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	hash := sha256.New()
	_, err = io.Copy(hash, r)
	return fmt.Sprintf("%x", hash.Sum(nil)) == s.payload.SHA256, err
}
