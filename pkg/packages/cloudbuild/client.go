package cloudbuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	gapic "cloud.google.com/go/cloudbuild/apiv1/v2"
	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"

	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	// answerWithin limits the wait for an answer.
	answerWithin = 30 * time.Second
	// attempts limits how often Start and Cancel ask a server that doesn't answer.
	attempts = 3
	// global is the location of projects that may not build in every region.
	global = "global"
)

// Client builds images in one place.
type Client struct {
	// Interval is the time between two questions about a build; New sets it to 1.5 seconds.
	Interval time.Duration
	// User is the account that asks, for messages; "" if it is not known.
	User string
	// Charged is the project that the credentials have requests charged to, for messages; "" if they
	// name none.
	Charged string
	// Changed, which may be nil, is called by Follow with each new status of a build:
	// "QUEUED" while it waits for a machine, "WORKING", and how it ends.
	Changed func(status string)

	place  Place
	builds *gapic.Client
	bucket *store.Bucket
}

// New returns a client. It contacts nothing. The options are for the API: the credentials, if
// they are not to be the application default credentials, and an endpoint. The bucket is read
// and written as package store does it.
func New(ctx context.Context, p Place, options ...option.ClientOption) (*Client, error) {
	bucket, err := store.OpenBucket(p.Bucket, fmt.Sprintf("create it with: gcloud storage buckets create gs://%s --project=%s --location=%s, and give %s roles/storage.objectAdmin and roles/storage.legacyBucketReader on it",
		p.Bucket, p.Project, p.Region, p.Account))
	if err != nil {
		return nil, fmt.Errorf("opening Cloud Build: %w", err)
	}
	builds, err := gapic.NewClient(ctx, append([]option.ClientOption{option.WithTelemetryDisabled()}, options...)...)
	if err != nil {
		return nil, &unusableError{*principal.NotFound("Cloud Build", err, os.Getenv)}
	}
	// The library would retry for ten minutes, during which no log is read.
	once := []gax.CallOption{gax.WithTimeout(answerWithin)}
	builds.CallOptions = &gapic.CallOptions{CreateBuild: once, GetBuild: once, ListBuilds: once, CancelBuild: once}
	return &Client{Interval: 1500 * time.Millisecond, place: p, builds: builds, bucket: bucket}, nil
}

// Close closes connections.
func (c *Client) Close() error { return errors.Join(c.builds.Close(), c.bucket.Close()) }

// Build is one that was started.
type Build struct {
	Name   string // "projects/P/locations/L/builds/ID"
	URL    string // of its page in the console
	Image  string // that it makes
	Joined bool   // whether it was under way already
}

// ID returns the last part of the name.
func (b Build) ID() string { return path.Base(b.Name) }

// Start starts a build, or joins one of the same key and image that is under way. Two clients
// that start at the same moment may both build, which only costs one of them its time.
func (c *Client) Start(ctx context.Context, r Request) (Build, error) {
	if err := r.check(); err != nil {
		return Build{}, fmt.Errorf("starting a build: %w", err)
	}
	b, err := c.start(ctx, r, c.place.Region)
	if code(err) == codes.FailedPrecondition && c.place.Region != global {
		// New projects may build in some regions only, but always in this location.
		b, err = c.start(ctx, r, global)
	}
	return b, c.explain(ctx, toCreate, err)
}

// start starts a build in a location. Asked again after a lost answer, it joins what the first
// request has started.
func (c *Client) start(ctx context.Context, r Request, location string) (b Build, err error) {
	parent := fmt.Sprintf("projects/%s/locations/%s", c.place.Project, location)
	err = c.repeat(ctx, func() error {
		if running := c.running(ctx, r, parent); running != nil {
			b = started(parent, running)
			b.Joined = true
			return nil
		}
		b, err = c.create(ctx, r, parent)
		return err
	})
	b.Image = r.Image
	return b, err
}

// running returns a build of the same image that is under way, nil if there is none or if that
// can't be found out: then creating one says why.
func (c *Client) running(ctx context.Context, r Request, parent string) *cloudbuildpb.Build {
	builds := c.builds.ListBuilds(ctx, &cloudbuildpb.ListBuildsRequest{
		Parent: parent, ProjectId: c.place.Project, PageSize: 50,
		Filter: fmt.Sprintf(`tags=%q AND (status="QUEUED" OR status="WORKING")`, r.tag()),
	})
	for {
		b, err := builds.Next()
		if err != nil {
			return nil
		}
		// The same environment may be built for another cluster of the project, too.
		if steps := b.GetSteps(); len(steps) == 1 && slices.Contains(steps[0].GetEnv(), r.env()[0]) {
			return b
		}
	}
}

func (c *Client) create(ctx context.Context, r Request, parent string) (Build, error) {
	generation, err := c.bucket.Pin(ctx, r.Source.Name, r.Source.Data)
	if err != nil {
		return Build{}, err
	}
	operation, err := c.builds.CreateBuild(ctx, &cloudbuildpb.CreateBuildRequest{
		Parent: parent, ProjectId: c.place.Project, Build: Message(c.place, r, generation),
	})
	if err != nil {
		return Build{}, err
	}
	metadata, err := operation.Metadata()
	if err != nil || metadata.GetBuild().GetId() == "" {
		return Build{}, errors.Join(errors.New("the answer of Cloud Build doesn't say which build it is"), err)
	}
	return started(parent, metadata.GetBuild()), nil
}

func started(parent string, b *cloudbuildpb.Build) Build {
	return Build{Name: cmp.Or(b.GetName(), parent+"/builds/"+b.GetId()), URL: b.GetLogUrl()}
}

// Cancel ends a build, for all who wait for it. It does nothing if the build is over.
func (c *Client) Cancel(ctx context.Context, b Build) error {
	err := c.repeat(ctx, func() error {
		_, err := c.builds.CancelBuild(ctx, &cloudbuildpb.CancelBuildRequest{Name: b.Name, ProjectId: c.place.Project, Id: b.ID()})
		return err
	})
	if code(err) == codes.FailedPrecondition {
		return nil
	}
	return c.explain(ctx, toCancel, err)
}

// repeat makes a request again that may succeed then.
func (c *Client) repeat(ctx context.Context, request func() error) error {
	timer := backoff.Timer{First: 2 * c.Interval, Longest: 4 * c.Interval}
	return timer.Attempts(ctx, attempts, temporary, request)
}

// wait waits before the next question, longer after failures.
func (c *Client) wait(ctx context.Context, failures int) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(c.Interval << min(failures, 4)):
		return nil
	}
}
