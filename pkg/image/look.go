package image

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Digest returns the digest that a reference has now, which may be that of an index; "" if
// there is no such image. It is one request.
func (c *Client) Digest(ctx context.Context, ref, arch string) (string, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return "", fmt.Errorf("the image %s: %w", ref, err)
	}
	s, err := c.connect(arch, func() {})
	if err != nil {
		return "", err
	}
	d, err := s.pull.Head(ctx, parsed)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", failed(ctx, "look for the image "+ref+" in", parsed.Context(), err)
	}
	return d.Digest.String(), nil
}

// Alias makes a tag the name of an image that the repository has.
func (c *Client) Alias(ctx context.Context, repository, tag, digest, arch string) error {
	repo, err := name.NewRepository(repository)
	if err != nil {
		return fmt.Errorf("the repository for images: %w", err)
	}
	s, err := c.connect(arch, func() {})
	if err != nil {
		return err
	}
	d, err := s.pull.Get(ctx, repo.Digest(digest))
	if err == nil {
		err = remote.Tag(repo.Tag(tag), d, s.options...)
	}
	if err != nil {
		return failed(ctx, "name the image "+tag+" in", repo, err)
	}
	return nil
}

// checkedFor is how long an image that was found counts as found.
const checkedFor = 24 * time.Hour

// UnusableError says why pods can't run an image.
type UnusableError struct {
	Ref string
	Err error
}

// Error names the image and the reason.
func (e *UnusableError) Error() string { return fmt.Sprintf("the image %s: %v", e.Ref, e.Err) }

// Unwrap returns the reason.
func (e *UnusableError) Unwrap() error { return e.Err }

// Check returns an UnusableError if an image certainly does not exist, or has nothing for an
// architecture. If the registry can't be asked, by this user or from here, only the nodes of
// the cluster can tell: then there is no error. now is when an image was found, for the memory.
func (c *Client) Check(ctx context.Context, ref, arch string, now time.Time) error {
	key, found := "checked "+arch+" "+ref, time.Time{}
	if c.Memory.Load(key, &found) && now.Sub(found) < checkedFor && now.After(found) {
		return nil
	}
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return &UnusableError{ref, err}
	}
	s, err := c.connect(arch, func() {})
	if err != nil {
		return err
	}
	d, err := s.pull.Get(ctx, parsed)
	switch {
	case missing(err):
		return &UnusableError{ref, errors.New("there is no such image; check its name")}
	case err != nil:
		return context.Cause(ctx)
	}
	if err := fits(d, arch); err != nil {
		return &UnusableError{ref, err}
	}
	c.Memory.Save(key, now)
	return nil
}

// fits returns an error if an image, or all images of an index, are of another architecture.
func fits(d *remote.Descriptor, arch string) error {
	if d.MediaType.IsIndex() {
		return hasPlatform(d, arch)
	}
	image, err := d.Image()
	if err != nil {
		return nil //nolint:nilerr // an old manifest, which containerd may know
	}
	config, err := image.ConfigFile()
	if err == nil && config.Architecture != "" && config.Architecture != arch {
		return noPlatform(arch, []string{config.OS + "/" + config.Architecture})
	}
	return nil
}
