// Package packaging makes what provides packages and images to commands.
package packaging

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Place is the cluster that images are for; its fields are "" if it is in no project.
type Place struct{ Project, Zone, Cluster string }

// Memory returns what is remembered of images, below the directory of caches; "" remembers nothing.
func Memory(cacheDir string) image.Memory {
	if cacheDir == "" {
		return image.Memory{}
	}
	return image.Memory{Dir: filepath.Join(cacheDir, "images")}
}

// Steering returns what steers uv and pip on this machine beside the files of a project.
func Steering() []string { return resolve.Resolver{Home: platform.HomeDir(os.Getenv)}.Steering() }

// UploadLimit reads the value of --image-upload-limit in bytes: 0, the default, for "".
func UploadLimit(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := resource.ParseQuantity(text)
	if err != nil || limit.Sign() <= 0 {
		return 0, fmt.Errorf("--image-upload-limit %q: expected a size such as 512Mi or 2Gi", text)
	}
	return limit.Value(), nil
}

// silence is how long a registry or an index may send nothing while it answers.
const silence = 30 * time.Second

// Provider returns what provides packages, without a store and without what shows it. It contacts
// nothing.
func Provider(ctx context.Context, p Place, cacheDir string, now func() time.Time) *provide.Provider {
	token := googleToken()
	limited := func(base http.RoundTripper) http.RoundTripper {
		return transport.SilenceLimit{Base: base, Within: silence}
	}
	return &provide.Provider{
		Images: &image.Client{Keys: image.Keychain(ctx, token, authn.DefaultKeychain), UserAgent: "kubectl-kinetic/" + version.String(),
			Memory: Memory(cacheDir), Transport: limited(remote.DefaultTransport)},
		Resolver: resolve.Resolver{HTTP: &http.Client{Transport: limited(http.DefaultTransport)}, Home: platform.HomeDir(os.Getenv), Token: token},
		Python:   pythonHere(), Now: now,
		Cloud: cloudBuild(p),
	}
}

// pythonHere returns the interpreter of this machine, "" if there is none.
func pythonHere() string {
	path, err := exec.LookPath(platform.Python())
	if err != nil {
		return ""
	}
	return path
}

// Mistaken reports whether an error of a provider is about what was asked for, or about what the user
// may not do, so that nothing was made and trying again does not help.
func Mistaken(err error) bool {
	if cloud, ok := errors.AsType[*provide.CloudError](err); ok {
		return cloud.Lasting()
	}
	for _, kind := range []any{
		new(*resolve.MistakeError), new(*resolve.ConflictError), new(*resolve.NotHereError), new(*resolve.NeedsBuildError), new(*wheel.NoFitError),
		new(*image.UnusableError), new(*image.BaseError), new(*image.LimitError), new(*cloudbuild.CredentialsError),
	} {
		if errors.As(err, kind) {
			return true
		}
	}
	registry, ok := errors.AsType[*image.RegistryError](err)
	return ok && registry.Denied()
}
