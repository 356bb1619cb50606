// Package cloudbuild has images built by Google Cloud Build: those that need a builder, since
// a package of theirs has no wheel for the target, or since the user wrote the Dockerfile.
package cloudbuild
