package cloudbuild_test

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
)

// cloud is a service for one test.
type cloud struct {
	*cloudbuildtest.Service
	t *testing.T
}

func newCloud(t *testing.T, script ...cloudbuildtest.Event) *cloud {
	t.Helper()
	return &cloud{cloudbuildtest.New(t, place, script...), t}
}

// client returns a client, as a process of its own would have it.
func (c *cloud) client() *cloudbuild.Client {
	c.t.Helper()
	client, err := c.Client(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := client.Close(); err != nil {
			c.t.Error(err)
		}
	})
	return client
}

// image is what tests build.
func (c *cloud) image() string { return c.Registry + "/kn-research/env:r-1" }

func (c *cloud) request() cloudbuild.Request {
	c.t.Helper()
	source, err := cloudbuild.Custom([]byte("FROM scratch\n"))
	if err != nil {
		c.t.Fatal(err)
	}
	return cloudbuild.Request{Key: "abc", Image: c.image(), Source: source}
}

// pushed returns the digest of the image in the registry.
func (c *cloud) pushed(image string) string {
	c.t.Helper()
	ref, err := name.ParseReference(image)
	if err != nil {
		c.t.Fatal(err)
	}
	found, err := remote.Head(ref)
	if err != nil {
		c.t.Fatal(err)
	}
	return found.Digest.String()
}
