package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// change is a change of the objects of a kind.
type change struct {
	kind kind
	// reset says that all replaces everything that was known. Otherwise object has changed, or
	// was deleted.
	reset   bool
	all     []runtime.Object
	object  runtime.Object
	deleted bool
	// lacks says that objects of the kind can't be read.
	lacks bool
	// denied, if not nil, says why: there may be objects that we have no permission to see.
	denied error
}

type selection struct {
	kind   kind
	labels string
	fields string
	// list is an empty list of the kind, to read into.
	list func() runtime.Object
	// keep, which may be nil, returns what is kept of an object; nil is nothing.
	keep func(runtime.Object) runtime.Object
	// detail is how much of each object in a list is decoded.
	detail joblist.Detail
	// needed says that the job is of this kind, which a cluster may not have.
	needed bool
	// newer says that the newer version of the kind is read.
	newer bool
}

// served returns the kind in the version that is read.
func (s selection) served() kind {
	k := s.kind
	if s.newer {
		k.client = k.newer
	}
	return k
}

// moved reports whether the server may have the kind in the newer version only.
func (s selection) moved(err error) bool {
	return s.kind.newer != nil && !s.newer && apierrors.IsNotFound(err)
}

func (s selection) kept(o runtime.Object) runtime.Object {
	if s.keep == nil {
		return o
	}
	return s.keep(o)
}

// follow reports all objects of a selection, then every change, until ctx is done. It lists and
// watches. After a connection breaks or ends, it continues from the last version, so that no
// change is missed. It only returns an error if trying again can't help.
func (c *Client) follow(ctx context.Context, s selection, emit func(change)) error {
	wait := backoff.Timer{}
	for {
		objects, version, err := c.read(ctx, s)
		if err == nil {
			emit(change{kind: s.kind, reset: true, all: objects})
			var last string
			if last, err = c.watchFrom(ctx, s, version, emit); last != version {
				wait = backoff.Timer{} // a list alone is not progress: its version may already be too old
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !apiserver.Transient(err) && !expired(err) {
			return err
		}
		if err := wait.Sleep(ctx); err != nil {
			return err
		}
	}
}

// followPart is follow for a kind that the cluster may not have, or that we may not see: then it
// reports that there are none. A workload that was seen has not gone because we may no longer see
// it: that is an error.
func (c *Client) followPart(ctx context.Context, s selection, emit func(change)) error {
	begun := false
	noted := func(ch change) {
		begun = true
		emit(ch)
	}
	err := c.follow(ctx, s, noted)
	if s.moved(err) {
		s.newer = true
		err = c.follow(ctx, s, noted)
	}
	if !s.kind.lacks(err) || begun && s.kind.workload != nil {
		return err
	}
	emit(c.none(s.kind, err))
	<-ctx.Done()
	return ctx.Err()
}

// watchFrom reports the changes after a version, and returns the last version. It ends when the
// server no longer has that version, or with an error after which trying again can't help.
func (c *Client) watchFrom(ctx context.Context, s selection, version string, emit func(change)) (string, error) {
	wait := backoff.Timer{}
	for {
		next, err := c.watchOnce(ctx, s, version, emit)
		switch {
		case ctx.Err() != nil:
			return next, ctx.Err()
		case err != nil && !apiserver.Transient(err):
			return next, err
		case next != version:
			wait = backoff.Timer{}
		}
		version = next
		if err := wait.Sleep(ctx); err != nil {
			return version, err
		}
	}
}

// watchOnce reads a watch to its end, and returns the version up to which everything was
// reported.
func (c *Client) watchOnce(ctx context.Context, s selection, version string, emit func(change)) (string, error) {
	options := metav1.ListOptions{LabelSelector: s.labels, FieldSelector: s.fields, ResourceVersion: version,
		Watch: true, AllowWatchBookmarks: true}
	w, err := c.reading(s.served(), "PartialObjectMetadata", &options).Watch(ctx)
	if err != nil {
		return version, c.explain("watch", s.kind, "", err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			return version, c.explain("watch", s.kind, "", apierrors.FromObject(e.Object))
		}
		if accessor, err := meta.Accessor(e.Object); err == nil {
			version = accessor.GetResourceVersion()
		}
		if e.Type == watch.Bookmark {
			continue
		}
		if kept := s.kept(e.Object); kept != nil {
			emit(change{kind: s.kind, object: kept, deleted: e.Type == watch.Deleted})
		}
	}
	return version, nil
}

// expired reports whether an error means that a watch must start again with a list.
func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }
