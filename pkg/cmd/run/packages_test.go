package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A mistake in what is to be installed is one of the command line; a build that failed is not.
func TestExitCodesOfPackages(t *testing.T) {
	running := cloudbuild.Build{Name: "projects/acme/locations/global/builds/b1", Image: "r/env:r-1", URL: "https://console.example/b1"}
	for name, tt := range map[string]struct {
		err         error
		interrupted bool
		code        int
		said        string
	}{
		"a conflict":         {err: &resolve.ConflictError{}, code: cli.ExitUsage},
		"a broken lock":      {err: &resolve.MistakeError{Err: errors.New("uv.lock:1:13")}, code: cli.ExitUsage},
		"no network":         {err: errors.New("lost"), code: cli.ExitFailed},
		"a failed build":     {err: &provide.CloudError{Err: &cloudbuild.FailedError{Reason: "it failed"}}, code: cli.ExitFailed},
		"unusable":           {err: &provide.CloudError{Err: cloudbuild.ErrUnusable}, code: cli.ExitUsage},
		"a lost connection":  {err: &provide.CloudError{Err: errors.New("lost"), Running: running}, code: cli.ExitFailed},
		"a registry is down": {err: &image.RegistryError{Err: errors.New("down")}, code: cli.ExitFailed},
		"Ctrl-C":             {err: context.Canceled, interrupted: true, code: cli.ExitInterrupted, said: "interrupted; no job was started\n"},
		"Ctrl-C in a build": {err: &provide.CloudError{Err: context.Canceled, Running: running}, interrupted: true, code: cli.ExitInterrupted,
			said: "interrupted; no job was started\nthe build of r/env:r-1 is still running, and the next run uses it: https://console.example/b1; cancel it with: gcloud builds cancel b1 --project=acme --region=global\n"},
		"a store that can't be used": {err: fmt.Errorf("storing the list of packages: %w", store.ErrUnusable), code: cli.ExitUsage},
		"Ctrl-C that cancels a build": {err: &provide.CloudError{Err: context.Canceled, Running: running, Cancelled: true}, interrupted: true, code: cli.ExitInterrupted,
			said: "interrupted; no job was started\nthe build of r/env:r-1 was cancelled: https://console.example/b1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			o := &options{ui: ui.New(&said, time.Now)}
			ctx, cancel := context.WithCancel(t.Context())
			if tt.interrupted {
				cancel()
			}
			defer cancel()
			if code := cli.CodeOf(o.providerError(ctx, tt.err)); code != tt.code || said.String() != tt.said {
				t.Errorf("exit code %d, said %q; want %d, %q", code, &said, tt.code, tt.said)
			}
		})
	}
}
