package cloudbuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// patience is how often in succession Cloud Build may fail to say how a build is: for about a
// quarter of an hour, at the default interval.
const patience = 40

// Follow copies the log of a build to w, as it is written, until the build is over. It returns
// the digest of the image ("sha256:…"), "" if the build doesn't say it. If the build failed,
// the error is a FailedError. When ctx is over, the build still runs.
func (c *Client) Follow(ctx context.Context, b Build, w io.Writer) (digest string, err error) {
	f := &follower{client: c, build: b, log: w}
	for failures, status := 0, ""; ; {
		got, err := c.builds.GetBuild(ctx, &cloudbuildpb.GetBuildRequest{Name: b.Name, ProjectId: c.place.Project, Id: b.ID()})
		switch {
		case err == nil:
			failures = 0
			if now := got.GetStatus().String(); now != status && c.Changed != nil {
				status = now
				c.Changed(now)
			}
		case !temporary(err) || ctx.Err() != nil || failures == patience:
			return "", c.explain(ctx, toGet, err)
		default:
			failures++
		}
		// Cloud Build has written all of the log before it says that a build is over.
		if err := f.read(ctx); err != nil {
			return "", err
		}
		if over(got.GetStatus()) {
			return f.result(got)
		}
		if err := c.wait(ctx, failures); err != nil {
			return "", fmt.Errorf("following the build %s: %w", b.ID(), err)
		}
	}
}

func over(s cloudbuildpb.Build_Status) bool {
	switch s {
	case cloudbuildpb.Build_STATUS_UNKNOWN, cloudbuildpb.Build_PENDING, cloudbuildpb.Build_QUEUED, cloudbuildpb.Build_WORKING:
		return false
	}
	return true
}

type follower struct {
	client *Client
	build  Build
	log    io.Writer
	at     int64 // how many bytes of the log were copied
	tail   platform.Tail
	closed bool // whether reading the log was given up
}

// read copies what the log has by now. Only an error of the writer is one: a build doesn't
// need its log.
func (f *follower) read(ctx context.Context) error {
	if f.closed {
		return nil
	}
	r, err := f.client.bucket.OpenAt(ctx, "log-"+f.build.ID()+".txt", f.at)
	if errors.Is(err, store.ErrNotFound) {
		return nil // there is nothing, or nothing new, yet
	}
	if errors.Is(err, store.ErrUnusable) {
		f.closed = true
		_, err = fmt.Fprintf(f.log, "the log of the build can't be read: %v; it is at %s\n", err, f.build.URL)
		return err
	}
	if err != nil {
		return nil // next time
	}
	defer r.Close()
	out := &counter{to: io.MultiWriter(f.log, &f.tail)}
	_, _ = io.Copy(out, r) // if reading fails, the next read continues here
	f.at += out.n
	if out.err != nil {
		return fmt.Errorf("writing the log of the build: %w", out.err)
	}
	return nil
}

// counter counts the bytes that were written, and keeps the error of a writer apart from that
// of a reader.
type counter struct {
	to  io.Writer
	n   int64
	err error
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

const digestPattern = `^sha256:[0-9a-f]{64}$`

func (f *follower) result(b *cloudbuildpb.Build) (digest string, err error) {
	if b.GetStatus() != cloudbuildpb.Build_SUCCESS {
		return "", failed(f.build, f.client.place.Account, b, strings.Split(strings.TrimSuffix(f.tail.String(), "\n"), "\n"))
	}
	for _, output := range b.GetResults().GetBuildStepOutputs() {
		if said := strings.TrimSpace(string(output)); lazyregexp.Of(digestPattern).MatchString(said) {
			return said, nil
		}
	}
	return "", nil
}
