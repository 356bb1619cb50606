package kube

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// volumeChecker looks for what mounts need in the cluster that a job is submitted to.
type volumeChecker struct {
	Namespace string
	// Get decodes an object, or a list of objects, by its path in the API. Its errors are those of
	// the API server.
	Get func(ctx context.Context, into any, path ...string) error
	// Say tells the user a line. It is called by one goroutine at a time.
	Say func(format string, args ...any)
}

func missingf(format string, args ...any) error {
	return &apiserver.MissingError{Text: fmt.Sprintf(format, args...)}
}

type finding struct {
	err error
	// note is what the user is told if the job can be submitted.
	note string
}

// CheckFlags checks the claims that a job mounts and the StorageClass of its disk, as its flags
// name them. A job without them causes no request. What the user may not read is only known
// when the job starts.
func (c volumeChecker) CheckFlags(ctx context.Context, s api.Spec) error {
	var checks []func() finding
	for _, name := range claimNames(s.Data) {
		checks = append(checks, func() finding { return c.checkClaim(ctx, name, s) })
	}
	switch {
	case s.DiskClass != "":
		checks = append(checks, func() finding { return c.checkClass(ctx, s) })
	case s.DiskVolume:
		checks = append(checks, func() finding { return c.checkDefaultClass(ctx, s) })
	}
	found := make([]finding, len(checks))
	parallel.Each(len(checks), checks, func(i int, check func() finding) { found[i] = check() })
	var failed []error
	for _, f := range found {
		failed = append(failed, f.err)
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for _, f := range found {
		if f.note != "" {
			c.Say("warning: %s", f.note)
		}
	}
	return nil
}

// names returns the names of the objects in a collection, none if they can't be read.
func (c volumeChecker) names(ctx context.Context, path ...string) []string {
	var all metav1.PartialObjectMetadataList
	if err := c.Get(ctx, &all, path...); err != nil {
		return nil
	}
	names := make([]string, len(all.Items))
	for i, o := range all.Items {
		names[i] = o.Name
	}
	return names
}
