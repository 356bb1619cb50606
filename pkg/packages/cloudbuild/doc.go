// Package cloudbuild has Google Cloud Build make the images that need a builder, because one of
// their packages has no wheel for the target, or because the user wrote the Dockerfile.
//
//	source, err := cloudbuild.Image{Base: "python:3.12-slim@sha256:…", …}.Source(ctx)
//	client, err := cloudbuild.New(ctx, cloudbuild.PlaceOf(project, region, cluster))
//	build, err := client.Start(ctx, cloudbuild.Request{Key: key, Image: image, Source: source})
//	digest, err := client.Follow(ctx, build, os.Stderr)
//
// A build belongs to all who need its image: Start joins one that is under way, and nothing
// but Cancel ends it early. Its source is an object named by its hash, so that a client that
// was killed continues where it was.
//
// Errors are of three kinds: ErrUnusable says that Cloud Build can't be used as things are, a
// FailedError that the build failed, and others may pass.
package cloudbuild
