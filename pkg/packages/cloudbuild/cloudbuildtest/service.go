// Package cloudbuildtest serves Cloud Build in a test, with a bucket and a registry.
package cloudbuildtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
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

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
)

// Service is Cloud Build as its own service definition has it, with a bucket and a registry.
type Service struct {
	cloudbuildpb.UnimplementedCloudBuildServer
	// Endpoint is where it serves, and Place what it builds for.
	Endpoint string
	Place    cloudbuild.Place
	// Bucket is the emulator that has the place's bucket.
	Bucket *fakestorage.Server
	// Registry is the host of a registry of its own.
	Registry string
	// Transport, which may be nil, makes the requests of builds to registries.
	Transport http.RoundTripper

	t      testing.TB
	mu     sync.Mutex
	builds []*Build
	calls  []string // "CreateBuild europe-west4"
	faults map[string][]error
	script []Event
	asked  func(id string)
	web    func(w http.ResponseWriter, r *http.Request) bool
}

// Build is one that was created.
type Build struct {
	*cloudbuildpb.Build
	// Files is what the source has.
	Files map[string]string

	script []Event
	log    string
}

// Event is a change of a build. One happens for each question about the build.
type Event func(s *Service, b *Build)

// New starts a service whose builds follow a script. The test then has its own emulator of Cloud
// Storage.
func New(t *testing.T, place cloudbuild.Place, script ...Event) *Service {
	t.Helper()
	s := &Service{t: t, Place: place, faults: map[string][]error{}, script: script}
	var err error
	if s.Bucket, err = fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true}); err != nil {
		t.Fatal(err)
	}
	s.Bucket.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: place.Bucket})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		answer := s.web
		s.mu.Unlock()
		if answer == nil || !answer(w, r) {
			s.Bucket.HTTPHandler().ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", web.URL)

	images := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(images.Close)
	s.Registry = strings.TrimPrefix(images.URL, "http://")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(s.intercept))
	cloudbuildpb.RegisterCloudBuildServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	s.Endpoint = listener.Addr().String()
	return s
}

// Client returns a client, as a process of its own would have it. The caller closes it.
func (s *Service) Client(ctx context.Context) (*cloudbuild.Client, error) {
	client, err := cloudbuild.New(ctx, s.Place, option.WithEndpoint(s.Endpoint), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		return nil, err
	}
	client.Interval = time.Millisecond
	return client, nil
}

// Builds returns the builds that were created.
func (s *Service) Builds() []*Build {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.builds)
}

// Asked has a function called for each question about a build, before the answer.
func (s *Service) Asked(call func(id string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = call
}

// Web has a function answer requests to the bucket. It returns whether it has.
func (s *Service) Web(answer func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.web = answer
}

// intercept records a call with its location, which the client puts in a header, and returns
// the error that a test has ordered for it.
func (s *Service) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	_, method, _ := strings.Cut(strings.TrimPrefix(info.FullMethod, "/"), "/")
	header, _ := metadata.FromIncomingContext(ctx)
	_, location, _ := strings.Cut(strings.Join(header.Get("x-goog-request-params"), ""), "location=")
	s.mu.Lock()
	s.calls = append(s.calls, method+" "+location)
	var err error
	if next := s.faults[method]; len(next) > 0 {
		err, s.faults[method] = next[0], next[1:]
	}
	s.mu.Unlock()
	if err == nil {
		return handle(ctx, request)
	}
	var lost LostAnswer
	if errors.As(err, &lost) {
		_, _ = handle(ctx, request)
		return nil, status.Error(codes.Unavailable, "connection lost")
	}
	return nil, err
}

// LostAnswer is an error for Fail: the server does what was asked, and the client doesn't hear of it.
type LostAnswer struct{}

func (LostAnswer) Error() string { return "lost" }

// Fail makes the next calls of a method fail, once for each error.
func (s *Service) Fail(method string, errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], errs...)
}

// Called returns the calls of some methods.
func (s *Service) Called(methods ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(call string) bool {
		method, _, _ := strings.Cut(call, " ")
		return !slices.Contains(methods, method)
	})
}

// CreateBuild implements the service.
func (s *Service) CreateBuild(_ context.Context, r *cloudbuildpb.CreateBuildRequest) (*longrunningpb.Operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &Build{Build: proto.CloneOf(r.Build), script: slices.Clone(s.script), Files: s.fetch(r.Build.GetSource().GetStorageSource())}
	b.Id = fmt.Sprintf("%08d-0000", len(s.builds)+1)
	b.Name = r.Parent + "/builds/" + b.Id
	b.Status = cloudbuildpb.Build_QUEUED
	b.LogUrl = "https://console.cloud.google.com/cloud-build/builds/" + b.Id
	s.builds = append(s.builds, b)
	m, err := anypb.New(&cloudbuildpb.BuildOperationMetadata{Build: b.Build})
	return &longrunningpb.Operation{Name: "operations/build/acme/x", Metadata: m}, err
}

// fetch reads a source as the service does: exactly that generation.
func (s *Service) fetch(source *cloudbuildpb.StorageSource) map[string]string {
	o, err := s.Bucket.GetObject(source.GetBucket(), source.GetObject())
	if err != nil || o.Generation != source.GetGeneration() {
		s.t.Errorf("there is no source %v: generation %d, %v", source, o.Generation, err)
		return nil
	}
	return s.unpack(o.Content)
}

func (s *Service) unpack(data []byte) map[string]string {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		s.t.Error(err)
		return nil
	}
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(archive)
		}
		if err != nil {
			s.t.Error(err)
			return nil
		}
		files[header.Name] = string(text)
	}
}

func (s *Service) find(name string) (*Build, error) {
	for _, b := range s.builds {
		if b.Name == name {
			return b, nil
		}
	}
	return nil, status.Error(codes.NotFound, "no build "+name)
}

// GetBuild implements the service.
func (s *Service) GetBuild(_ context.Context, r *cloudbuildpb.GetBuildRequest) (*cloudbuildpb.Build, error) {
	s.mu.Lock()
	asked := s.asked
	s.mu.Unlock()
	if asked != nil {
		asked(r.Id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(r.Name)
	if err != nil {
		return nil, err
	}
	if len(b.script) > 0 {
		happens := b.script[0]
		b.script = b.script[1:]
		happens(s, b)
	}
	return proto.CloneOf(b.Build), nil
}

// ListBuilds implements the service.
func (s *Service) ListBuilds(_ context.Context, r *cloudbuildpb.ListBuildsRequest) (*cloudbuildpb.ListBuildsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var answer cloudbuildpb.ListBuildsResponse
	for _, b := range s.builds {
		wanted := fmt.Sprintf(`tags=%q AND (status="QUEUED" OR status="WORKING")`, b.Tags[len(b.Tags)-1])
		under := b.Status == cloudbuildpb.Build_QUEUED || b.Status == cloudbuildpb.Build_WORKING
		if strings.HasPrefix(b.Name, r.Parent+"/") && r.Filter == wanted && under {
			answer.Builds = append(answer.Builds, proto.CloneOf(b.Build))
		}
	}
	return &answer, nil
}

// CancelBuild implements the service.
func (s *Service) CancelBuild(_ context.Context, r *cloudbuildpb.CancelBuildRequest) (*cloudbuildpb.Build, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(r.Name)
	if err != nil {
		return nil, err
	}
	if b.Status != cloudbuildpb.Build_QUEUED && b.Status != cloudbuildpb.Build_WORKING {
		return nil, status.Error(codes.FailedPrecondition, "the build is over")
	}
	b.Status, b.script = cloudbuildpb.Build_CANCELLED, nil
	return proto.CloneOf(b.Build), nil
}

// Queued leaves a build as it is.
func Queued(*Service, *Build) {}

// Works means that a build has a machine.
func Works(_ *Service, b *Build) { b.Status = cloudbuildpb.Build_WORKING }

// Logs writes more of the log.
func Logs(text string) Event {
	return func(s *Service, b *Build) {
		b.Status = cloudbuildpb.Build_WORKING
		b.log += text
		s.Bucket.CreateObject(fakestorage.Object{Content: []byte(b.log),
			ObjectAttrs: fakestorage.ObjectAttrs{BucketName: strings.TrimPrefix(b.LogsBucket, "gs://"), Name: "log-" + b.Id + ".txt", ContentType: "text/plain"}})
	}
}

// Ends ends a build.
func Ends(status cloudbuildpb.Build_Status) Event {
	return func(_ *Service, b *Build) { b.Status = status }
}

// Pushes makes an image, as the last thing a build does, and says its digest.
func Pushes(s *Service, b *Build) {
	digest, err := s.push(b.Image())
	if err != nil {
		s.t.Error(err)
	}
	b.Status = cloudbuildpb.Build_SUCCESS
	b.Results = &cloudbuildpb.Results{BuildStepOutputs: [][]byte{[]byte(digest + "\n")}}
}

// Image returns the name of the image that the build was asked for.
func (b *Build) Image() string {
	for _, variable := range b.Steps[0].Env {
		if value, ok := strings.CutPrefix(variable, "IMAGE="); ok {
			return value
		}
	}
	return ""
}

// push puts an image of its own under a name.
func (s *Service) push(target string) (string, error) {
	image, err := random.Image(100, 1)
	if err != nil {
		return "", err
	}
	ref, err := name.ParseReference(target)
	if err != nil {
		return "", err
	}
	var options []remote.Option
	if s.Transport != nil {
		options = append(options, remote.WithTransport(s.Transport))
	}
	if err := remote.Write(ref, image, options...); err != nil {
		return "", err
	}
	digest, err := image.Digest()
	return digest.String(), err
}
