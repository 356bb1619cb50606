package cloudbuild_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/kubectl-kinetic/kinetic/pkg/cloudbuild"
)

// A cloud is Cloud Build as its own service definition has it, with a bucket and a registry.
type cloud struct {
	cloudbuildpb.UnimplementedCloudBuildServer
	t        *testing.T
	endpoint string
	bucket   *fakestorage.Server
	registry string // its host

	mu     sync.Mutex
	builds []*run
	calls  []string // "CreateBuild europe-west4"
	faults map[string][]error
	// script is what happens to a new build, one event for each question about it.
	script []event
	// asked is called for each question about a build, before the answer.
	asked func(id string)
	// web may answer a request to the bucket itself, and returns whether it has.
	web func(w http.ResponseWriter, r *http.Request) bool
}

// A run is one build.
type run struct {
	*cloudbuildpb.Build
	script []event
	log    string
	files  map[string]string // its source
}

// An event is a change of a build.
type event func(c *cloud, r *run)

// newCloud starts all of them. A test then has its own emulator of Cloud Storage.
func newCloud(t *testing.T, script ...event) *cloud {
	t.Helper()
	c := &cloud{t: t, faults: map[string][]error{}, script: script}
	var err error
	if c.bucket, err = fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true}); err != nil {
		t.Fatal(err)
	}
	c.bucket.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: place.Bucket})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		answer := c.web
		c.mu.Unlock()
		if answer == nil || !answer(w, r) {
			c.bucket.HTTPHandler().ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", web.URL)

	images := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(images.Close)
	c.registry = strings.TrimPrefix(images.URL, "http://")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(c.intercept))
	cloudbuildpb.RegisterCloudBuildServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	c.endpoint = listener.Addr().String()
	return c
}

// client returns a client, as a process of its own would have it.
func (c *cloud) client() *cloudbuild.Client {
	c.t.Helper()
	client, err := cloudbuild.New(c.t.Context(), place, option.WithEndpoint(c.endpoint), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := client.Close(); err != nil {
			c.t.Error(err)
		}
	})
	client.Interval = time.Millisecond
	return client
}

// image is what tests build.
func (c *cloud) image() string { return c.registry + "/kn-research/env:r-1" }

func (c *cloud) request() cloudbuild.Request {
	c.t.Helper()
	source, err := cloudbuild.Custom([]byte("FROM scratch\n"))
	if err != nil {
		c.t.Fatal(err)
	}
	return cloudbuild.Request{Key: "abc", Image: c.image(), Source: source}
}

// intercept records a call with its location, which the client puts in a header, and returns
// the error that a test has ordered for it.
func (c *cloud) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	_, method, _ := strings.Cut(strings.TrimPrefix(info.FullMethod, "/"), "/")
	header, _ := metadata.FromIncomingContext(ctx)
	_, location, _ := strings.Cut(strings.Join(header.Get("x-goog-request-params"), ""), "location=")
	c.mu.Lock()
	c.calls = append(c.calls, method+" "+location)
	var err error
	if next := c.faults[method]; len(next) > 0 {
		err, c.faults[method] = next[0], next[1:]
	}
	c.mu.Unlock()
	if err == nil {
		return handle(ctx, request)
	}
	var lost lostAnswer
	if errors.As(err, &lost) {
		_, _ = handle(ctx, request)
		return nil, status.Error(codes.Unavailable, "connection lost")
	}
	return nil, err
}

// A lostAnswer is a fault: the server does what was asked, and the client doesn't hear of it.
type lostAnswer struct{ error }

// fail makes the next calls of a method fail, once for each error.
func (c *cloud) fail(method string, errs ...error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[method] = append(c.faults[method], errs...)
}

// called returns the calls of some methods.
func (c *cloud) called(methods ...string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.calls), func(call string) bool {
		method, _, _ := strings.Cut(call, " ")
		return !slices.Contains(methods, method)
	})
}

func (c *cloud) CreateBuild(_ context.Context, r *cloudbuildpb.CreateBuildRequest) (*longrunningpb.Operation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &run{Build: proto.CloneOf(r.Build), script: slices.Clone(c.script), files: c.fetch(r.Build.GetSource().GetStorageSource())}
	b.Id = fmt.Sprintf("%08d-0000", len(c.builds)+1)
	b.Name = r.Parent + "/builds/" + b.Id
	b.Status = cloudbuildpb.Build_QUEUED
	b.LogUrl = "https://console.cloud.google.com/cloud-build/builds/" + b.Id
	c.builds = append(c.builds, b)
	m, err := anypb.New(&cloudbuildpb.BuildOperationMetadata{Build: b.Build})
	return &longrunningpb.Operation{Name: "operations/build/acme/x", Metadata: m}, err
}

// fetch reads a source as the service does: exactly that generation.
func (c *cloud) fetch(s *cloudbuildpb.StorageSource) map[string]string {
	o, err := c.bucket.GetObject(s.GetBucket(), s.GetObject())
	if err != nil || o.Generation != s.GetGeneration() {
		c.t.Errorf("there is no source %v: generation %d, %v", s, o.Generation, err)
		return nil
	}
	return unpack(c.t, o.Content)
}

func (c *cloud) find(name string) (*run, error) {
	for _, b := range c.builds {
		if b.Name == name {
			return b, nil
		}
	}
	return nil, status.Error(codes.NotFound, "no build "+name)
}

func (c *cloud) GetBuild(_ context.Context, r *cloudbuildpb.GetBuildRequest) (*cloudbuildpb.Build, error) {
	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	if asked != nil {
		asked(r.Id)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.find(r.Name)
	if err != nil {
		return nil, err
	}
	if len(b.script) > 0 {
		happens := b.script[0]
		b.script = b.script[1:]
		happens(c, b)
	}
	return proto.CloneOf(b.Build), nil
}

func (c *cloud) ListBuilds(_ context.Context, r *cloudbuildpb.ListBuildsRequest) (*cloudbuildpb.ListBuildsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var answer cloudbuildpb.ListBuildsResponse
	for _, b := range c.builds {
		wanted := fmt.Sprintf(`tags=%q AND (status="QUEUED" OR status="WORKING")`, b.Tags[len(b.Tags)-1])
		under := b.Status == cloudbuildpb.Build_QUEUED || b.Status == cloudbuildpb.Build_WORKING
		if strings.HasPrefix(b.Name, r.Parent+"/") && r.Filter == wanted && under {
			answer.Builds = append(answer.Builds, proto.CloneOf(b.Build))
		}
	}
	return &answer, nil
}

func (c *cloud) CancelBuild(_ context.Context, r *cloudbuildpb.CancelBuildRequest) (*cloudbuildpb.Build, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.find(r.Name)
	if err != nil {
		return nil, err
	}
	if b.Status != cloudbuildpb.Build_QUEUED && b.Status != cloudbuildpb.Build_WORKING {
		return nil, status.Error(codes.FailedPrecondition, "the build is over")
	}
	b.Status, b.script = cloudbuildpb.Build_CANCELLED, nil
	return proto.CloneOf(b.Build), nil
}

// The events.

func queued(*cloud, *run)    {}
func works(_ *cloud, r *run) { r.Status = cloudbuildpb.Build_WORKING }

// logs writes more of the log.
func logs(text string) event {
	return func(c *cloud, r *run) {
		r.Status = cloudbuildpb.Build_WORKING
		r.log += text
		c.bucket.CreateObject(fakestorage.Object{Content: []byte(r.log),
			ObjectAttrs: fakestorage.ObjectAttrs{BucketName: strings.TrimPrefix(r.LogsBucket, "gs://"), Name: "log-" + r.Id + ".txt", ContentType: "text/plain"}})
	}
}

func ends(s cloudbuildpb.Build_Status) event {
	return func(_ *cloud, r *run) { r.Status = s }
}

// pushes makes an image, as the last thing a build does.
func pushes(c *cloud, r *run) {
	var target string
	for _, variable := range r.Steps[0].Env {
		if value, ok := strings.CutPrefix(variable, "IMAGE="); ok {
			target = value
		}
	}
	image, err := random.Image(100, 1)
	if err != nil {
		c.t.Error(err)
		return
	}
	ref, err := name.ParseReference(target)
	if err == nil {
		err = remote.Write(ref, image)
	}
	if err != nil {
		c.t.Error(err)
		return
	}
	digest, _ := image.Digest()
	r.Status = cloudbuildpb.Build_SUCCESS
	r.Results = &cloudbuildpb.Results{BuildStepOutputs: [][]byte{[]byte(digest.String() + "\n")}}
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
