package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// errImageMoved ends the waiting for a job that runs another image than the one it was given.
var errImageMoved = errors.New("the image was changed")

// imageMoved reports whether the job runs another image than its name stood for at submission.
func imageMoved(h api.Handle, s api.Status) bool {
	return s.ImageDigest != "" && len(h.ImageDigests) > 0 && !slices.Contains(h.ImageDigests, s.ImageDigest)
}

func movedText(h api.Handle, s api.Status) string {
	return fmt.Sprintf("the image %s was %s at submission, but the job's pod runs %s", h.ImageURI, h.ImageDigests[len(h.ImageDigests)-1], s.ImageDigest)
}

// giveUpMoved cancels a job whose image was replaced after its submission.
func (o *options) giveUpMoved(ctx context.Context, j *job.Job, s api.Status) error {
	text := movedText(j.Handle, s)
	if _, err := j.Cancel(ctx, 0, o.clock.Now(), text); err != nil {
		return err
	}
	return &cli.Error{Code: cli.ExitFailed, Kind: api.KindUntrusted, Next: "find out who replaced the image",
		Err: fmt.Errorf("%s: the job was cancelled; another run takes the image as it is now, so find out first who replaced it", text)}
}
