package cloudbuild_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
)

func foreign(name string) fakestorage.Object {
	return fakestorage.Object{Content: []byte("not a source"), ObjectAttrs: fakestorage.ObjectAttrs{BucketName: place.Bucket, Name: name}}
}

// follow starts a build and follows it.
func follow(t *testing.T, c *cloud) (digest, log string, err error) {
	t.Helper()
	client := c.client()
	b, err := client.Start(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	digest, err = client.Follow(t.Context(), b, &out)
	return digest, out.String(), err
}

func TestFollowCopiesTheLogOnce(t *testing.T) {
	var all strings.Builder
	script := []cloudbuildtest.Event{cloudbuildtest.Queued, cloudbuildtest.Works}
	for i := range 100 {
		// Parts end within a line, and within a character.
		text := fmt.Sprintf("line %d é\n", i)
		all.WriteString(text)
		cut := len(text) - 1 - i%3
		script = append(script, cloudbuildtest.Logs(text[:cut]), cloudbuildtest.Works, cloudbuildtest.Logs(text[cut:]))
	}
	for name, tt := range map[string]struct {
		script []cloudbuildtest.Event
		want   string
	}{
		"in parts": {append(script, cloudbuildtest.Pushes), all.String()},
		"none":     {[]cloudbuildtest.Event{cloudbuildtest.Works, cloudbuildtest.Pushes}, ""},
		"only at the end": {[]cloudbuildtest.Event{cloudbuildtest.Works, func(c *cloudbuildtest.Service, r *cloudbuildtest.Build) {
			cloudbuildtest.Logs(all.String())(c, r)
			cloudbuildtest.Pushes(c, r)
		}}, all.String()},
		"long":              {[]cloudbuildtest.Event{cloudbuildtest.Logs(strings.Repeat(all.String(), 500)), cloudbuildtest.Pushes}, strings.Repeat(all.String(), 500)},
		"without a newline": {[]cloudbuildtest.Event{cloudbuildtest.Logs("end"), cloudbuildtest.Pushes}, "end"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t, tt.script...)
			_, log, err := follow(t, c)
			if err != nil {
				t.Fatal(err)
			}
			if log != tt.want {
				t.Errorf("%d bytes of log, want %d", len(log), len(tt.want))
			}
		})
	}
}

// A connection that breaks in the log loses and repeats nothing.
func TestFollowBrokenLog(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<14)
	c := newCloud(t, cloudbuildtest.Works, cloudbuildtest.Logs(text[:1<<17]), cloudbuildtest.Works, cloudbuildtest.Logs(text[1<<17:]), cloudbuildtest.Works, cloudbuildtest.Pushes)
	broken := 0
	c.Web(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "log-") || broken == 3 {
			return false
		}
		broken++
		c.Bucket.HTTPHandler().ServeHTTP(&halved{ResponseWriter: w}, r)
		panic(http.ErrAbortHandler)
	})
	_, log, err := follow(t, c)
	if err != nil || log != text {
		t.Errorf("%d bytes of log, want %d, error %v", len(log), len(text), err)
	}
	if broken != 3 {
		t.Errorf("broken %d times", broken)
	}
}

// halved sends the first half of what it is to send.
type halved struct{ http.ResponseWriter }

func (h *halved) Write(p []byte) (int, error) {
	_, _ = h.ResponseWriter.Write(p[:len(p)/2])
	h.ResponseWriter.(http.Flusher).Flush()
	return len(p), nil
}

func TestFollowOutlastsFaults(t *testing.T) {
	many := func(n int, code codes.Code) (errs []error) {
		for range n {
			errs = append(errs, status.Error(code, "not now"))
		}
		return errs
	}
	for name, tt := range map[string]struct {
		errs []error
		want string // "" if it goes well
	}{
		"quota":              {many(5, codes.ResourceExhausted), ""},
		"restart":            {append(many(2, codes.Unavailable), many(2, codes.Internal)...), ""},
		"permission":         {many(1, codes.PermissionDenied), "the account in use needs the permission cloudbuild.builds.get in project acme: not now; grant it with: "},
		"build not found":    {many(1, codes.NotFound), "it refuses the request: not now"},
		"quota for too long": {many(50, codes.ResourceExhausted), "following the build in Cloud Build of project acme: the quota is used up: not now; try again later"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t, cloudbuildtest.Works, cloudbuildtest.Logs("x\n"), cloudbuildtest.Pushes)
			c.Fail("GetBuild", tt.errs...)
			_, _, err := follow(t, c)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// A log that may not be read is no reason to give up.
func TestFollowUnreadableLog(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Works, cloudbuildtest.Logs("x\n"), cloudbuildtest.Works, cloudbuildtest.Pushes)
	c.Web(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "log-") {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	digest, log, err := follow(t, c)
	if err != nil || digest == "" {
		t.Errorf("digest %q, error %v", digest, err)
	}
	if strings.Count(log, "\n") != 1 || !strings.Contains(log, "needs the permission storage.objects.get on the bucket acme-kn-research-builds") || !strings.HasSuffix(log, "it is at https://console.cloud.google.com/cloud-build/builds/00000001-0000\n") {
		t.Errorf("log %q", log)
	}
}

// The reader of the log is gone: there is no point in following.
func TestFollowBrokenWriter(t *testing.T) {
	c := newCloud(t, cloudbuildtest.Logs("x\n"), cloudbuildtest.Works, cloudbuildtest.Pushes)
	client := c.client()
	b, err := client.Start(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	gone := errors.New("gone")
	r.CloseWithError(gone)
	if _, err := client.Follow(t.Context(), b, w); !errors.Is(err, gone) {
		t.Errorf("error %v", err)
	}
}

// Without a digest in the results, the caller asks the registry.
func TestFollowWithoutDigest(t *testing.T) {
	for name, outputs := range map[string][][]byte{"none": nil, "another": {[]byte("hello")}, "empty": {nil}} {
		c := newCloud(t, func(_ *cloudbuildtest.Service, r *cloudbuildtest.Build) {
			r.Status, r.Results = cloudbuildpb.Build_SUCCESS, &cloudbuildpb.Results{BuildStepOutputs: outputs}
		})
		if digest, _, err := follow(t, c); digest != "" || err != nil {
			t.Errorf("%s: digest %q, error %v", name, digest, err)
		}
	}
}

func TestFailures(t *testing.T) {
	conflict, err := os.ReadFile(filepath.Join("testdata", "logs", "conflict.txt"))
	if err != nil {
		t.Fatal(err)
	}
	ended := func(s cloudbuildpb.Build_Status) []cloudbuildtest.Event {
		return []cloudbuildtest.Event{cloudbuildtest.Works, cloudbuildtest.Logs("one\ntwo\n"), cloudbuildtest.Ends(s)}
	}
	for name, tt := range map[string]struct {
		script []cloudbuildtest.Event
		want   string
	}{
		"failure": {[]cloudbuildtest.Event{cloudbuildtest.Works, cloudbuildtest.Logs(string(conflict)), cloudbuildtest.Ends(cloudbuildpb.Build_FAILURE)}, "the requirements conflict with each other or with the Python version:\n" +
			"  × No solution found when resolving dependencies:\n" +
			"  ╰─▶ Because there is no version of numpy==99.0 and you require numpy==99.0, we can conclude that your requirements are unsatisfiable.\n" +
			"change one of them; "},
		"unknown failure": {ended(cloudbuildpb.Build_FAILURE), "it failed:\n  one\n  two\n"},
		"no log":          {[]cloudbuildtest.Event{cloudbuildtest.Ends(cloudbuildpb.Build_FAILURE)}, "it failed; "},
		"refused source": {[]cloudbuildtest.Event{func(_ *cloudbuildtest.Service, r *cloudbuildtest.Build) {
			r.Status = cloudbuildpb.Build_FAILURE
			r.FailureInfo = &cloudbuildpb.Build_FailureInfo{Type: cloudbuildpb.Build_FailureInfo_FETCH_SOURCE_FAILED, Detail: "the account may not read the source"}
		}}, "it failed:\n  the account may not read the source\n"},
		"timeout":        {ended(cloudbuildpb.Build_TIMEOUT), "it took longer than 30m0s:\n  one\n  two\ninstall less, or use --image prebuilt: then the pod installs the packages; "},
		"cancelled":      {ended(cloudbuildpb.Build_CANCELLED), "it was cancelled; run it again to build the image after all; "},
		"expired":        {[]cloudbuildtest.Event{cloudbuildtest.Queued, cloudbuildtest.Ends(cloudbuildpb.Build_EXPIRED)}, "it waited for longer than 30m0s for a machine; try again later, or ask for quota for more builds at a time; "},
		"internal error": {ended(cloudbuildpb.Build_INTERNAL_ERROR), "Cloud Build itself failed:\n  one\n  two\ntry again; "},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t, tt.script...)
			_, _, err := follow(t, c)
			var failed *cloudbuild.FailedError
			if !errors.As(err, &failed) || errors.Is(err, cloudbuild.ErrUnusable) {
				t.Fatalf("error %v, want a FailedError", err)
			}
			want := "building " + c.image() + " in Cloud Build: " + tt.want + "the whole log is at https://console.cloud.google.com/cloud-build/builds/00000001-0000"
			if err.Error() != want {
				t.Errorf("error\n%s\nwant\n%s", err, want)
			}
		})
	}
}

// An hour of log is not held in memory, and its end explains all the same.
func TestLongLog(t *testing.T) {
	const why = "ERROR: No matching distribution found for nonesuch==1.0"
	noise := func(n int) string { return strings.Repeat("noise\n", n) }
	long := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct{ log, want string }{
		"near the end": {noise(9000) + why + "\n" + noise(500), why},
		"a long line":  {noise(10) + long + "\n" + why + "\n", why},
		"no cause":     {noise(9000) + long, long[:2000]},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t, cloudbuildtest.Logs(tt.log), cloudbuildtest.Ends(cloudbuildpb.Build_FAILURE))
			_, log, err := follow(t, c)
			var failed *cloudbuild.FailedError
			if !errors.As(err, &failed) || len(failed.Lines) == 0 || failed.Lines[len(failed.Lines)-1] != tt.want {
				t.Errorf("error %.3000v", err)
			}
			if log != tt.log {
				t.Errorf("%d bytes of log, want %d", len(log), len(tt.log))
			}
		})
	}
}
