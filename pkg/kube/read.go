package kube

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// read lists all objects of a selection page by page, and tries again to get a page that failed.
// version is the one to watch from. The list starts again if the server has dropped the version
// of its first page.
func (c *Client) read(ctx context.Context, s selection) (objects []runtime.Object, version string, err error) {
	next := ""
	again := backoff.Timer{}
	for {
		page, about, err := c.page(ctx, s, next)
		if next != "" && expired(err) {
			objects, next = nil, ""
			if err := again.Sleep(ctx); err != nil {
				return nil, "", err
			}
			continue
		}
		if err != nil {
			return nil, "", err
		}
		objects = append(objects, page...)
		if next = about.GetContinue(); next == "" {
			return objects, about.GetResourceVersion(), nil
		}
	}
}

// page reads the page of a list that begins at a token of the server, and returns what is kept of
// it.
func (c *Client) page(ctx context.Context, s selection, begin string) (kept []runtime.Object, about metav1.ListInterface, err error) {
	again := retry
	if s.kind.isPart() && !s.needed { // it is not worth a wait
		again = func(_ context.Context, call func() error) error { return call() }
	}
	err = again(ctx, func() error {
		kept = kept[:0]
		options := metav1.ListOptions{LabelSelector: s.labels, FieldSelector: s.fields, Limit: joblist.PageSize, Continue: begin}
		about, err = c.listEach(ctx, s.served(), options, s.list(), s.detail, func(o runtime.Object) {
			if o = s.kept(o); o != nil {
				kept = append(kept, o)
			}
		})
		return err
	})
	return kept, about, err
}

// readPart is read for a kind that the cluster may not have, or that we may not see. Without one that jobs can be described
// without, it reports that there are none.
func (c *Client) readPart(ctx context.Context, s selection) (change, error) {
	objects, _, err := c.read(ctx, s)
	if s.moved(err) {
		s.newer = true
		objects, _, err = c.read(ctx, s)
	}
	if s.kind.lacks(err) {
		return c.none(s.kind, err), nil
	}
	if err != nil && ctx.Err() == nil && s.kind.isPart() {
		if s.kind.isReason() {
			c.unexplained.Do(func() { c.transport.Say("can't show why jobs are waiting: %v", err) })
		}
		return c.none(s.kind, err), nil
	}
	return change{kind: s.kind, reset: err == nil, all: objects}, err
}
