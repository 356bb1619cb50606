package cloudbuild

import (
	_ "embed" // the script of the build
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

//go:embed build.sh
var script string

// Place is where images are built.
type Place struct {
	Project string
	Region  string // "europe-west4"
	Bucket  string // of sources and logs: "acme-kn-research-builds"
	Account string // the service account of builds: "kn-research-builds@acme.iam.gserviceaccount.com"
}

// PlaceOf returns the place that belongs to a cluster.
func PlaceOf(project, region, cluster string) Place {
	n := config.Names{Project: project, Cluster: cluster}
	return Place{Project: project, Region: region, Bucket: n.Builds(), Account: n.Email(config.BuildsAccount)}
}

// Request is an image to be built, for linux/amd64.
type Request struct {
	// Key names what the image is made from, at most 100 letters, digits and ._-. Start joins
	// a build of the same key and image.
	Key    string
	Image  string // its name with a tag, under which it is pushed
	Cache  string // the name of an image that keeps what later builds reuse, or ""
	Source Source
}

const (
	// takes limits how long a build may take.
	takes = 30 * time.Minute
	// waits limits how long it may wait for a machine before.
	waits = 30 * time.Minute
)

const keyPattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`

func (r Request) check() error {
	switch {
	case !lazyregexp.Of(keyPattern).MatchString(r.Key):
		return fmt.Errorf("the key %q: expected at most 100 letters, digits and ._-", r.Key)
	case !lazyregexp.Of(reference).MatchString(r.Image):
		return fmt.Errorf("the image %q: expected a name with a tag", r.Image)
	case r.Cache != "" && !lazyregexp.Of(reference).MatchString(r.Cache):
		return fmt.Errorf("the cache %q: expected the name of an image", r.Cache)
	case len(r.Source.Data) == 0:
		return errors.New("it has no source")
	}
	return nil
}

func (r Request) tag() string { return "kinetic-" + r.Key }

func (r Request) env() []string {
	return []string{"IMAGE=" + r.Image, "CACHE=" + r.Cache, "REUSED=" + string(r.Source.Reused)}
}

// Message returns the build as Cloud Build is asked for it. generation is that of the source.
func Message(p Place, r Request, generation int64) *cloudbuildpb.Build {
	return &cloudbuildpb.Build{
		Source: &cloudbuildpb.Source{Source: &cloudbuildpb.Source_StorageSource{
			StorageSource: &cloudbuildpb.StorageSource{Bucket: p.Bucket, Object: r.Source.Name, Generation: generation},
		}},
		// In a script, Cloud Build replaces no $ of its own.
		Steps:          []*cloudbuildpb.BuildStep{{Name: "gcr.io/cloud-builders/docker", Env: r.env(), Script: script}},
		ServiceAccount: fmt.Sprintf("projects/%s/serviceAccounts/%s", p.Project, p.Account),
		LogsBucket:     "gs://" + p.Bucket,
		Timeout:        durationpb.New(takes),
		QueueTtl:       durationpb.New(waits),
		Tags:           []string{"kinetic", r.tag()},
		Options: &cloudbuildpb.BuildOptions{
			Logging:            cloudbuildpb.BuildOptions_GCS_ONLY, // logs elsewhere can't be followed
			LogStreamingOption: cloudbuildpb.BuildOptions_STREAM_ON,
			MachineType:        cloudbuildpb.BuildOptions_E2_HIGHCPU_8,
			SubstitutionOption: cloudbuildpb.BuildOptions_ALLOW_LOOSE,
		},
	}
}
