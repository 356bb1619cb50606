// Package image makes container images from a base image and wheels, without a builder. It
// executes nothing of a wheel, and sends only what the registry lacks.
//
//	facts, err := client.Inspect(ctx, "python:3.12-slim", "amd64")
//	env := image.Env{Base: "python:3.12-slim", Arch: "amd64", Wheels: wheels, …}
//	tag, err := env.Tag()                        // the image's name, known without network
//	made, err := client.Make(ctx, repository, env, image.Options{})
//
// An image is the base, a layer that makes a virtual environment, and a layer for each wheel.
// A layer depends on its wheel and on the version of Python, not on the base, the project or
// the machine. A note in the registry says which layer a wheel became, so that what one
// machine made is never downloaded, converted or sent again by another.
//
// The manifest is put last, and under a name that stands for exactly this content: what is
// interrupted leaves layers that nothing refers to, never half an image.
package image
