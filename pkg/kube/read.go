package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// pageSize is how many objects are in memory as the server sent them: kubectl's
// own. Thousands of whole Jobs are hundreds of megabytes.
const pageSize = 500

// read lists all objects of a selection page by page, each of which is asked for
// again when that failed. The version is the one from which on to watch. A list that
// takes longer than the server remembers what it has begun with begins anew.
func (c *Client) read(ctx context.Context, s selection) (objects []runtime.Object, version string, err error) {
	next := ""
	anew := backoff{}
	for {
		page, err := c.page(ctx, s, next)
		if next != "" && expired(err) {
			objects, next = nil, ""
			if err := anew.sleep(ctx); err != nil {
				return nil, "", err
			}
			continue
		}
		if err != nil {
			return nil, "", err
		}
		err = meta.EachListItem(page, func(o runtime.Object) error {
			if kept := s.kept(o); kept != nil {
				objects = append(objects, kept)
			}
			return nil
		})
		if err != nil {
			return nil, "", err
		}
		about, err := meta.ListAccessor(page)
		if err != nil {
			return nil, "", err
		}
		if next = about.GetContinue(); next == "" {
			return objects, about.GetResourceVersion(), nil
		}
	}
}

// page reads the part of a list that a token of the server begins.
func (c *Client) page(ctx context.Context, s selection, begin string) (runtime.Object, error) {
	var page runtime.Object
	err := retry(ctx, func() error {
		page = s.list()
		return c.list(ctx, s.served(), metav1.ListOptions{LabelSelector: s.labels, FieldSelector: s.fields, Limit: pageSize, Continue: begin}, page)
	})
	return page, err
}

// readPart is read for a kind of which there may be nothing.
func (c *Client) readPart(ctx context.Context, s selection) (change, error) {
	objects, _, err := c.read(ctx, s)
	if s.moved(err) {
		s.newer = true
		objects, _, err = c.read(ctx, s)
	}
	if s.kind.lacks(err) {
		return c.none(s.kind, err), nil
	}
	return change{kind: s.kind, reset: err == nil, all: objects}, err
}
