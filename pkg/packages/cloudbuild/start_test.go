package cloudbuild_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
)

func TestBuild(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Queued, cloudbuildtest.Works, cloudbuildtest.Logs("Step 1\nStep"), cloudbuildtest.Works, cloudbuildtest.Logs(" 2\n"), cloudbuildtest.Pushes)
	client := c.client()
	b, err := client.Start(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	want := cloudbuild.Build{Name: "projects/acme/locations/europe-west4/builds/00000001-0000", Image: c.image(),
		URL: "https://console.cloud.google.com/cloud-build/builds/00000001-0000"}
	if b != want || b.ID() != "00000001-0000" {
		t.Errorf("build %+v, want %+v", b, want)
	}
	if got := c.Builds()[0].Files["Dockerfile"]; got != "FROM scratch\n" {
		t.Errorf("the source has the Dockerfile %q", got)
	}
	var log strings.Builder
	var changes []string
	client.Changed = func(status string) { changes = append(changes, status) }
	digest, err := client.Follow(t.Context(), b, &log)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(changes, []string{"QUEUED", "WORKING", "SUCCESS"}) {
		t.Errorf("status changes %q", changes)
	}
	if want := c.pushed(c.image()); digest != want {
		t.Errorf("digest %q, want %q", digest, want)
	}
	if log.String() != "Step 1\nStep 2\n" {
		t.Errorf("log %q", log.String())
	}
	// The location is in the header by which requests are routed.
	for _, call := range c.Called("ListBuilds", "CreateBuild", "GetBuild") {
		if !strings.HasSuffix(call, " europe-west4") {
			t.Errorf("call %s, want one to europe-west4", call)
		}
	}
}

func TestStartJoins(t *testing.T) {
	for name, tt := range map[string]struct {
		second func(*cloudbuild.Request)
		over   bool
		joins  bool
	}{
		"the same image":       {second: func(*cloudbuild.Request) {}, joins: true},
		"another key":          {second: func(r *cloudbuild.Request) { r.Key = "abd" }},
		"another repository":   {second: func(r *cloudbuild.Request) { r.Image += "0" }},
		"a build that is over": {second: func(*cloudbuild.Request) {}, over: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t, cloudbuildtest.Pushes)
			first, err := c.client().Start(t.Context(), c.request())
			if err != nil {
				t.Fatal(err)
			}
			if tt.over {
				if _, err := c.client().Follow(t.Context(), first, io.Discard); err != nil {
					t.Fatal(err)
				}
			}
			r := c.request()
			tt.second(&r)
			second, err := c.client().Start(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if joins := second.Name == first.Name; joins != tt.joins || second.Joined != tt.joins {
				t.Errorf("first %+v, second %+v, joins must be %v", first, second, tt.joins)
			}
		})
	}
}

// Someone else's build with our tag is not joined.
func TestStartJoinsNoForeignBuild(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Pushes)
	first, err := c.client().Start(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	c.Builds()[0].Steps[0].Env = nil
	second, err := c.client().Start(t.Context(), c.request())
	if err != nil || second.Joined || second.Name == first.Name {
		t.Errorf("first %+v, second %+v, %v", first, second, err)
	}
}

// A client that was killed after it sent the source has to send it no more.
func TestStartAgain(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Pushes)
	c.Fail("CreateBuild", status.Error(codes.PermissionDenied, "not yet"))
	if _, err := c.client().Start(t.Context(), c.request()); err == nil {
		t.Fatal("no error")
	}
	before, err := c.Bucket.GetObject(place.Bucket, c.request().Source.Name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.client().Start(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Bucket.GetObject(place.Bucket, c.request().Source.Name)
	if err != nil || after.Generation != before.Generation {
		t.Errorf("the source was written again: generation %d, then %d, error %v", before.Generation, after.Generation, err)
	}
	// Killed while it followed: the next one joins, and has the whole log.
	if b, err = c.client().Start(t.Context(), c.request()); err != nil || !b.Joined {
		t.Errorf("build %+v, error %v, want to join", b, err)
	}
}

// Someone replaced the source: the build gets ours.
func TestStartReplacesForeignSource(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Pushes)
	name := c.request().Source.Name
	c.Bucket.CreateObject(foreign(name))
	if _, err := c.client().Start(t.Context(), c.request()); err != nil {
		t.Fatal(err)
	}
	if got := c.Builds()[0].Files["Dockerfile"]; got != "FROM scratch\n" {
		t.Errorf("it builds %q", got)
	}
}

func TestTwoClients(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Works, cloudbuildtest.Logs("one\n"), cloudbuildtest.Logs("two\n"), cloudbuildtest.Logs("three\n"), cloudbuildtest.Pushes)
	var all sync.WaitGroup
	digests, logs := make([]string, 2), make([]strings.Builder, 2)
	for i := range 2 {
		client := c.client()
		r := c.request()
		all.Go(func() {
			b, err := client.Start(t.Context(), r)
			if err == nil {
				digests[i], err = client.Follow(t.Context(), b, &logs[i])
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 2 {
		if !strings.HasPrefix(digests[i], "sha256:") || logs[i].String() != "one\ntwo\nthree\n" {
			t.Errorf("client %d: digest %q, log %q", i, digests[i], logs[i].String())
		}
	}
}

// Where a project may not build in its region, builds are started, and joined, elsewhere.
func TestStartFallsBack(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Pushes)
	refused := status.Error(codes.FailedPrecondition, "due to quota restrictions, cannot run builds in this region")
	for i := range 2 {
		c.Fail("CreateBuild", refused)
		b, err := c.client().Start(t.Context(), c.request())
		if err != nil {
			t.Fatal(err)
		}
		if b.Name != "projects/acme/locations/global/builds/00000001-0000" || b.Joined != (i == 1) {
			t.Errorf("client %d: build %+v", i, b)
		}
	}
	want := []string{"ListBuilds europe-west4", "CreateBuild europe-west4", "ListBuilds global", "CreateBuild global",
		"ListBuilds europe-west4", "CreateBuild europe-west4", "ListBuilds global"}
	if got := c.Called("ListBuilds", "CreateBuild"); !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}

	c = newCloud(t)
	c.Fail("CreateBuild", refused, refused)
	_, err := c.client().Start(t.Context(), c.request())
	if !errors.Is(err, cloudbuild.ErrUnusable) || !strings.Contains(err.Error(), "no build quota in europe-west4: due to quota") {
		t.Errorf("error %v", err)
	}
}

func TestStartRetries(t *testing.T) {
	down := status.Error(codes.Unavailable, "down")
	t.Run("down for a moment", func(t *testing.T) {
		c := newCloud(t)
		c.Fail("CreateBuild", down, down)
		if _, err := c.client().Start(t.Context(), c.request()); err != nil {
			t.Error(err)
		}
	})
	t.Run("down", func(t *testing.T) {
		c := newCloud(t)
		c.Fail("CreateBuild", down, down, down, down)
		_, err := c.client().Start(t.Context(), c.request())
		if err == nil || errors.Is(err, cloudbuild.ErrUnusable) || !strings.Contains(err.Error(), "starting a build in Cloud Build of project acme: it can't be reached: ") {
			t.Errorf("error %v", err)
		}
	})
	// The build was created, and the client doesn't know: it joins rather than start another.
	t.Run("answer lost", func(t *testing.T) {
		c := newCloud(t)
		c.Fail("CreateBuild", cloudbuildtest.LostAnswer{})
		b, err := c.client().Start(t.Context(), c.request())
		if err != nil || !b.Joined || len(c.Builds()) != 1 {
			t.Errorf("build %+v, error %v, %d builds", b, err, len(c.Builds()))
		}
	})
	// Who may create builds and not list them has no use of joining.
	t.Run("no permission to list", func(t *testing.T) {
		c := newCloud(t)
		c.Fail("ListBuilds", status.Error(codes.PermissionDenied, "no"))
		if b, err := c.client().Start(t.Context(), c.request()); err != nil || b.Joined {
			t.Errorf("build %+v, error %v", b, err)
		}
	})
}

func TestStartRefusesRequests(t *testing.T) {
	c := newCloud(t)
	for want, change := range map[string]func(*cloudbuild.Request){
		`the key "a b"`:    func(r *cloudbuild.Request) { r.Key = "a b" },
		`the key "a\""`:    func(r *cloudbuild.Request) { r.Key = `a"` },
		`the image "x y"`:  func(r *cloudbuild.Request) { r.Image = "x y" },
		`the cache "x,y"`:  func(r *cloudbuild.Request) { r.Cache = "x,y" },
		`it has no source`: func(r *cloudbuild.Request) { r.Source = cloudbuild.Source{} },
	} {
		r := c.request()
		change(&r)
		if _, err := c.client().Start(t.Context(), r); err == nil || !strings.Contains(err.Error(), "starting a build: "+want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if len(c.Called("ListBuilds", "CreateBuild")) > 0 {
		t.Errorf("calls %q", c.Called("ListBuilds", "CreateBuild"))
	}
}

func TestCancel(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Works)
	client := c.client()
	b, err := client.Start(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	c.Fail("CancelBuild", status.Error(codes.Unavailable, "down"))
	for range 2 { // the second time, it is over
		if err := client.Cancel(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	_, err = client.Follow(t.Context(), b, io.Discard)
	var failed *cloudbuild.FailedError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "it was cancelled; run it again") {
		t.Errorf("error %v", err)
	}
	b.Name = "projects/acme/locations/europe-west4/builds/gone"
	if err := client.Cancel(t.Context(), b); err == nil || !strings.Contains(err.Error(), "cancelling the build in Cloud Build of project acme: ") {
		t.Errorf("error %v", err)
	}
}

// Ctrl-C ends the client, and not the build: others may wait for it.
func TestInterrupt(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Works, cloudbuildtest.Logs("one\n"), cloudbuildtest.Works, cloudbuildtest.Works, cloudbuildtest.Pushes)
	client := c.client()
	b, err := client.Start(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	questions := 0
	c.Asked(func(string) {
		if questions++; questions == 4 {
			cancel(errors.New("interrupted"))
		}
	})
	_, err = client.Follow(ctx, b, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
	if _, err := client.Start(ctx, c.request()); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
	c.Asked(nil)
	if _, err := c.client().Follow(t.Context(), b, io.Discard); err != nil {
		t.Errorf("the build did not end well: %v", err)
	}
	if calls := c.Called("CancelBuild"); len(calls) > 0 {
		t.Errorf("calls %q", calls)
	}
}
