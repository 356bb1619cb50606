package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A copy that is refused names the bucket that it is about.
func TestRefusedCopy(t *testing.T) {
	const denies = "me@example.com does not have storage.objects.%s access to the Google Cloud Storage object."
	asksForSource := func(r *http.Request) bool { return r.Method == http.MethodGet }
	for name, tt := range map[string]struct {
		copied, source func(http.ResponseWriter, *http.Request, http.Handler)
		want           string
	}{
		"writing forbidden": {answer(403, fmt.Sprintf(denies, "create")), nil,
			"writing gs://acme-jobs/team/a/new/0.json: me@example.com needs the permission storage.objects.create on the bucket acme-jobs: "},
		"no bucket to write to": {answer(404, "The specified bucket does not exist."), nil,
			"there is no bucket acme-jobs"},
		"reading forbidden": {answer(403, fmt.Sprintf(denies, "get")), answer(403, "Forbidden"),
			"copying gs://old-jobs/old/0.json: the account in use needs the permission storage.objects.get on the bucket old-jobs: "},
		"no bucket to read": {answer(404, "The specified bucket does not exist."), answer(404, "The specified bucket does not exist."),
			"there is no bucket old-jobs"},
		"no object to read": {answer(404, "No such object"), answer(404, "No such object"), "gs://old-jobs/old/0.json not found"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t)
			b.Fake.CreateObject(fakestorage.Object{Content: []byte("1"), ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "old-jobs", Name: "old/0.json"}})
			b.fail(1, rewrites, tt.copied)
			if tt.source != nil {
				b.fail(1, asksForSource, tt.source)
			}
			err := store.Copy(t.Context(), b.open(t), "new/0.json", openURL(t, "gs://old-jobs"), "old/0.json", nil)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	const refused = "me@example.com does not have storage.objects.create access to the Google Cloud Storage object. Permission 'storage.objects.create' denied on resource (or it may not exist)."
	grant := "grant it with: gcloud storage buckets add-iam-policy-binding gs://acme-jobs --member=user:me@example.com --role=roles/storage.objectUser"
	for name, tt := range map[string]struct {
		do   string
		with func(http.ResponseWriter, *http.Request, http.Handler)
		want []string
	}{
		"forbidden":              {"create", answer(403, refused), []string{"writing gs://acme-jobs/team/a/job/end.json: me@example.com needs the permission storage.objects.create on the bucket acme-jobs: ", grant}},
		"forbidden without name": {"list", answer(403, "Forbidden"), []string{"listing gs://acme-jobs/team/a/job/h: the account in use needs the permission storage.objects.list on the bucket acme-jobs", "--member=user:EMAIL"}},
		"forbidden to a service account": {"delete", answer(403, "ci@acme.iam.gserviceaccount.com does not have storage.objects.delete access to x"),
			[]string{"deleting gs://acme-jobs/team/a/job/handle.json: ci@acme.iam.gserviceaccount.com needs", "--member=serviceAccount:ci@acme.iam.gserviceaccount.com"}},
		"no bucket, read":   {"read", answer(404, "The specified bucket does not exist."), []string{"there is no bucket acme-jobs; create it with: gcloud storage buckets create gs://acme-jobs, or name another with --store or KINETIC_STORE"}},
		"no bucket, list":   {"dirs", answer(404, "Not Found"), []string{"there is no bucket acme-jobs"}},
		"no bucket, write":  {"create", answer(404, "Not Found"), []string{"there is no bucket acme-jobs"}},
		"no bucket, delete": {"delete", answer(404, "The specified bucket does not exist."), []string{"there is no bucket acme-jobs"}},
		"logged out":        {"read", answer(401, "Invalid Credentials"), []string{"the credentials were refused: Invalid Credentials; log in with: gcloud auth application-default login"}},
		"anything else":     {"read", answer(400, "what?"), []string{"reading gs://acme-jobs/team/a/job/handle.json: the server answered 400: what?"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t)
			b.fail(1, anything, tt.with)
			err := attempt(t.Context(), b.open(t), tt.do)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want one with %q", err, want)
				}
			}
			if passes := name == "anything else"; errors.Is(err, store.ErrUnusable) == passes {
				t.Errorf("%v is ErrUnusable: %v", err, passes)
			}
			if errors.Is(err, store.ErrNotFound) {
				t.Errorf("%v is ErrNotFound: a missing bucket is no missing object", err)
			}
		})
	}
}

// attempt does one of the operations and yields its error.
func attempt(ctx context.Context, s store.Store, operation string) error {
	var err error
	switch operation {
	case "create":
		err = s.Create(ctx, "job/end.json", strings.NewReader("x"), nil)
	case "read":
		_, err = s.Open(ctx, "job/handle.json")
	case "list":
		_, err = list(ctx, s, "job/h", "")
	case "dirs":
		_, err = s.Dirs(ctx, "")
	case "delete":
		err = s.Delete(ctx, "job/handle.json")
	}
	return err
}

// A server that never was there is not waited for.
func TestUnreachableEmulator(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1")
	for _, operation := range []string{"create", "read", "list", "dirs", "delete"} {
		err := attempt(t.Context(), openURL(t, "gs://acme-jobs"), operation)
		if err == nil || errors.Is(err, store.ErrUnusable) || !strings.Contains(err.Error(), "the emulator STORAGE_EMULATOR_HOST=127.0.0.1:1 can't be reached: ") {
			t.Errorf("%s: error %v, want one that names the emulator", operation, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	missing := filepath.Join(t.TempDir(), "key.json")
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{missing, broken} {
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
		s := openURL(t, "gs://acme-jobs")
		_, err := list(t.Context(), s, "", "")
		if err == nil || !strings.Contains(err.Error(), "opening gs://acme-jobs: finding credentials for Cloud Storage: ") ||
			!strings.HasSuffix(err.Error(), "correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is "+file) {
			t.Errorf("error %v, want one that names the variable", err)
		}
		if !errors.Is(err, store.ErrUnusable) {
			t.Errorf("%v is not ErrUnusable", err)
		}
	}
}

func TestCancel(t *testing.T) {
	for operation := range operations {
		if strings.HasSuffix(operation, "blob") {
			continue
		}
		t.Run(operation, func(t *testing.T) {
			b := newBucket(t)
			ctx, cancel := context.WithCancel(t.Context())
			// The server is down for good; the user gives up at the third try.
			b.fail(2, anything, answer(503, "down"))
			b.fail(1, anything, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				cancel()
				answer(503, "down")(w, r, next)
			})
			b.fail(100, anything, answer(503, "down"))
			if err := attempt(ctx, b.open(t), operation); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled", err)
			}
		})
	}
}
