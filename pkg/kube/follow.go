package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kinetic/kinetic/pkg/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/itemlist"
)

// change is one step in the life of a set of objects.
type change struct {
	kind kind
	// all replaces everything that was known; else one object has changed.
	all     []runtime.Object
	reset   bool
	object  runtime.Object
	deleted bool
	// lacks says that nothing of the kind can be read.
	lacks bool
	// denied is why there may be more than all: no one lets us see it.
	denied error
}

// selection chooses objects of a kind.
type selection struct {
	kind   kind
	labels string
	fields string
	// list is an empty list of the kind, to read into.
	list func() runtime.Object
	// keep, which may be nil, makes of an object what is kept of it; nil is nothing.
	keep func(runtime.Object) runtime.Object
	// detail is how much is read of an object that a list has.
	detail itemlist.Detail
	// newer says that the newer version of the kind is read.
	newer bool
}

// served is the kind in the version that is read.
func (s selection) served() kind {
	k := s.kind
	if s.newer {
		k.client = k.newer
	}
	return k
}

// moved reports whether a kind that the server does not have may be there in its
// newer version.
func (s selection) moved(err error) bool {
	return s.kind.newer != nil && !s.newer && apierrors.IsNotFound(err)
}

func (s selection) kept(o runtime.Object) runtime.Object {
	if s.keep == nil {
		return o
	}
	return s.keep(o)
}

// follow reports all objects of a selection, then every change, until ctx is
// over. It lists and watches; a connection that breaks or ends is opened again
// where it ended, so that no change is missed. Only errors that will not pass
// are returned.
func (c *Client) follow(ctx context.Context, s selection, emit func(change)) error {
	wait := backoff.Timer{}
	for {
		objects, version, err := c.read(ctx, s)
		if err == nil {
			emit(change{kind: s.kind, reset: true, all: objects})
			var last string
			if last, err = c.watchFrom(ctx, s, version, emit); last != version {
				wait = backoff.Timer{} // a list alone is no progress: its version may be too old at once
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

// followPart is follow for a kind of which there may be nothing: none is then all
// that is reported. A workload that was there has not gone because no one lets us
// see it any more.
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

// watchFrom reports changes after a version, and returns the last one. It ends when
// the server no longer knows that version, or with an error that does not pass.
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

// watchOnce reads one watch to its end, and returns the version up to which
// everything was reported.
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

// expired reports whether a watch has to begin again with a list.
func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }
