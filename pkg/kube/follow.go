package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// change is one step in the life of a set of objects.
type change struct {
	kind kind
	// all replaces everything that was known; else one object has changed.
	all     []runtime.Object
	reset   bool
	object  runtime.Object
	deleted bool
}

// selection chooses objects of a kind.
type selection struct {
	kind          kind
	labels, field string
	// list is an empty list of the kind, to read into.
	list func() runtime.Object
}

// follow reports all objects of a selection, then every change, until ctx is
// over. It lists and watches; a connection that breaks or ends is opened again
// where it ended, so that no change is missed. Only errors that will not pass
// are returned.
func (c *Client) follow(ctx context.Context, s selection, emit func(change)) error {
	wait := backoff{}
	for {
		version, err := c.relist(ctx, s, emit)
		if err == nil {
			wait = backoff{}
			err = c.watchFrom(ctx, s, version, emit)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !transient(err) && !expired(err) {
			return err
		}
		if err := wait.sleep(ctx); err != nil {
			return err
		}
	}
}

// followPart is follow for a kind of which there may be nothing: none is then all
// that is reported.
func (c *Client) followPart(ctx context.Context, s selection, emit func(change)) error {
	err := c.follow(ctx, s, emit)
	if !s.kind.lacks(err) {
		return err
	}
	emit(change{kind: s.kind, reset: true})
	<-ctx.Done()
	return ctx.Err()
}

func (c *Client) relist(ctx context.Context, s selection, emit func(change)) (version string, err error) {
	list := s.list()
	if err := c.list(ctx, s.kind, metav1.ListOptions{LabelSelector: s.labels, FieldSelector: s.field}, list); err != nil {
		return "", err
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		return "", err
	}
	emit(change{kind: s.kind, reset: true, all: objects})
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return "", err
	}
	return accessor.GetResourceVersion(), nil
}

// watchFrom reports changes after a version. It returns when the server no
// longer knows that version, or an error that does not pass.
func (c *Client) watchFrom(ctx context.Context, s selection, version string, emit func(change)) error {
	wait := backoff{}
	for {
		next, err := c.watchOnce(ctx, s, version, emit)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !transient(err):
			return err
		case next != version:
			wait = backoff{}
		}
		version = next
		if err := wait.sleep(ctx); err != nil {
			return err
		}
	}
}

// watchOnce reads one watch to its end, and returns the version up to which
// everything was reported.
func (c *Client) watchOnce(ctx context.Context, s selection, version string, emit func(change)) (string, error) {
	options := metav1.ListOptions{LabelSelector: s.labels, FieldSelector: s.field, ResourceVersion: version,
		Watch: true, AllowWatchBookmarks: true}
	w, err := c.reading(s.kind, "PartialObjectMetadata", &options).Watch(ctx)
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
		if e.Type != watch.Bookmark {
			emit(change{kind: s.kind, object: e.Object, deleted: e.Type == watch.Deleted})
		}
	}
	return version, nil
}

// expired tells that a watch has to begin anew with a list.
func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }
