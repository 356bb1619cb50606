package image

import (
	"context"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// mirror is where Google keeps copies of the images of Docker Hub that many use. Docker Hub refuses
// addresses that ask too often, and many people may share one.
const mirror = "mirror.gcr.io"

// mirrored does something with a reference, and if Docker Hub doesn't answer or refuses to yet, with its copy. If
// there is none, the error is Docker Hub's.
func mirrored[T any](ctx context.Context, ref name.Reference, do func(context.Context, name.Reference) (T, error)) (T, error) {
	done, err := do(ctx, ref)
	code := status(err)
	busy := code == http.StatusTooManyRequests || code >= http.StatusInternalServerError || unreachable(err)
	if err == nil || !busy || ref.Context().RegistryStr() != name.DefaultRegistry || ctx.Err() != nil {
		return done, err
	}
	repo, bad := name.NewRepository(mirror + "/" + ref.Context().RepositoryStr())
	if bad != nil {
		return done, err
	}
	var theirs name.Reference = repo.Tag(ref.Identifier())
	if _, ok := ref.(name.Digest); ok {
		theirs = repo.Digest(ref.Identifier())
	}
	if done, bad := do(ctx, theirs); bad == nil {
		return done, nil
	}
	return done, err
}

// asked is mirrored for what a puller does. If no credentials can be had, such as from a helper of Docker's that is gone,
// the image may be public. If it is not, the error tells what is wrong with the helper.
func asked[T any](ctx context.Context, s *session, ref name.Reference, do func(*remote.Puller, context.Context, name.Reference) (T, error)) (T, error) {
	with := func(pull *remote.Puller) func(context.Context, name.Reference) (T, error) {
		return func(ctx context.Context, ref name.Reference) (T, error) { return do(pull, ctx, ref) }
	}
	done, err := mirrored(ctx, ref, with(s.pull))
	if err == nil || status(err) != 0 || unreachable(err) || ctx.Err() != nil {
		return done, err
	}
	if public, bad := mirrored(ctx, ref, with(s.public)); bad == nil {
		return public, nil
	}
	return done, err
}
