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
	return c.digest(ctx, ref, arch, lookImage+ref+" in")
}

// BaseDigest is Digest for the base of images.
func (c *Client) BaseDigest(ctx context.Context, ref, arch string) (string, error) {
	return c.digest(ctx, ref, arch, readBase+ref+" from")
}

func (c *Client) digest(ctx context.Context, ref, arch, doing string) (string, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return "", fmt.Errorf("the image %s: %w", ref, err)
	}
	s, err := c.session(arch)
	if err != nil {
		return "", err
	}
	d, err := asked(ctx, s, parsed, (*remote.Puller).Head)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", failed(ctx, doing, parsed.Context(), err)
	}
	return d.Digest.String(), nil
}

// Tags returns the tags of a repository, none if there is no such repository.
func (c *Client) Tags(ctx context.Context, repository string) ([]string, error) {
	repo, err := name.NewRepository(repository)
	if err != nil {
		return nil, fmt.Errorf("the repository of images: %w", err)
	}
	tags, err := remote.List(repo, append(c.options("", c.transport()), remote.WithContext(ctx))...)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(ctx, "listing the images of", repo, err)
	}
	return tags, nil
}

// CheckPush returns an error if this user may not put images into a repository. It leaves nothing
// there.
func (c *Client) CheckPush(ctx context.Context, repository string) error {
	repo, err := name.NewRepository(repository)
	if err != nil {
		return fmt.Errorf("the repository for images: %w", err)
	}
	if err := remote.CheckPushPermission(repo.Tag("check"), c.keys(), c.transport()); err != nil {
		return failed(ctx, "putting images into", repo, err)
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

// Check returns the digests that an image's name stands for: of an index, and of the image for an
// architecture. It returns an UnusableError if the image certainly does not exist, or has nothing
// for the architecture. If the registry can't be asked, by this user or from here, only the nodes
// of the cluster can tell: then there is neither. An image that was found a short time before now
// is not looked for again.
func (c *Client) Check(ctx context.Context, ref, arch string, now time.Time) ([]string, error) {
	key, found := "checked "+arch+" "+ref, time.Time{}
	if c.Memory.Load(key, &found) && now.Sub(found) < checkedFor && !now.Before(found) {
		return nil, nil
	}
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, &UnusableError{ref, err}
	}
	s, err := c.session(arch)
	if err != nil {
		return nil, err
	}
	d, err := s.pull.Get(ctx, parsed)
	switch {
	case missing(err):
		return nil, &UnusableError{ref, errors.New("there is no such image; check its name")}
	case err != nil:
		return nil, context.Cause(ctx)
	}
	digests, err := digestsFor(d, arch)
	if err != nil {
		return nil, &UnusableError{ref, err}
	}
	c.Memory.Save(key, now)
	return digests, nil
}

// digestsFor returns the digests of an image and of the index that it is in. It returns an error if
// there is only one for other architectures.
func digestsFor(d *remote.Descriptor, arch string) ([]string, error) {
	digests := []string{d.Digest.String()}
	if d.MediaType.IsIndex() {
		if err := hasPlatform(d, arch); err != nil {
			return nil, err
		}
		image, err := d.Image()
		if err != nil {
			return nil, err
		}
		digest, err := image.Digest()
		return append(digests, digest.String()), err
	}
	image, err := d.Image()
	if err != nil {
		return digests, nil //nolint:nilerr // an old manifest, which containerd may know
	}
	config, err := image.ConfigFile()
	if err == nil && config.Architecture != "" && config.Architecture != arch {
		return nil, noPlatform(arch, []string{config.OS + "/" + config.Architecture})
	}
	return digests, nil
}
