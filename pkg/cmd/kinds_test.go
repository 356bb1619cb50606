package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	answers "github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// TestErrorKinds holds that each kind is that of a real error of the product, and in the documentation.
func TestErrorKinds(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("testdata", "script", "kinds.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := map[api.ErrorKind]error{
		api.KindUnstartable: &answers.MissingError{Text: "the cluster has no LeaderWorkerSets"},
		api.KindNotFound:    bucketError(t, http.StatusNotFound),
		api.KindUntrusted:   nil, // TestMovedImage of pkg/cmd/run
		api.KindElsewhere:   nil, // TestRegistryTellsClustersApart of pkg/job
	}
	for _, kind := range api.ErrorKinds() {
		err, is := elsewhere[kind]
		if !is && !strings.Contains(string(script), `"kind":"`+string(kind)+`"`) {
			t.Errorf("%s: kinds.txtar has no error of this kind", kind)
		}
		if err != nil && cli.KindOf(err) != kind {
			t.Errorf("%s: got %s", kind, cli.KindOf(err))
		}
	}
}

// bucketError is the error of a bucket whose server answers with a code.
func bucketError(t *testing.T, code int) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"message":"no"}}`, code)
	}))
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	bucket, err := store.Open("gs://bucket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	_, err = bucket.Dirs(t.Context(), "")
	return err
}

// Errors of packages below know their kind and what to do next.
func TestErrorsOfPackages(t *testing.T) {
	registry := func(code int) error {
		return &image.RegistryError{Doing: "send to", Repository: "europe-west4-docker.pkg.dev/p/r", Err: &transport.Error{StatusCode: code}}
	}
	for name, tt := range map[string]struct {
		err  error
		kind api.ErrorKind
		next string
	}{
		"a job of that ID":        {&submit.ExistsError{ID: "a", Flags: " -n ml"}, api.KindExists, "kubectl kinetic jobs cleanup a -n ml"},
		"the same job":            {&submit.ExistsError{ID: "a", Same: true}, api.KindExists, "kubectl kinetic jobs logs -f a"},
		"a newer handle":          {&api.VersionError{Got: 2, Max: 1}, api.KindVersion, "upgrade kubectl kinetic"},
		"no LeaderWorkerSets":     {&answers.MissingError{Text: "none", Install: "kubectl apply"}, api.KindUnstartable, "kubectl apply"},
		"a registry that refuses": {registry(http.StatusForbidden), api.KindForbidden, ""},
		"a registry that fails":   {registry(http.StatusInternalServerError), api.KindFailed, ""},
		"a silent registry":       {&image.RegistryError{Doing: "send to", Repository: "r", Err: errors.New("no route")}, api.KindUnreachable, ""},
		"a bucket that refuses":   {bucketError(t, http.StatusForbidden), api.KindForbidden, "gcloud storage buckets add-iam-policy-binding gs://bucket"},
		"no bucket":               {bucketError(t, http.StatusNotFound), api.KindNotFound, "create"},
	} {
		t.Run(name, func(t *testing.T) {
			var e struct {
				Kind api.ErrorKind
				Next string
			}
			if err := json.Unmarshal(lastEvent(t, fmt.Errorf("doing it: %w", tt.err)), &e); err != nil {
				t.Fatal(err)
			}
			if e.Kind != tt.kind || !strings.Contains(e.Next, tt.next) || tt.next == "" && e.Next != "" {
				t.Errorf("got %s, %q; want %s, %q", e.Kind, e.Next, tt.kind, tt.next)
			}
		})
	}
}

// lastEvent is the event of a command that fails with an error.
func lastEvent(t *testing.T, err error) []byte {
	t.Helper()
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &out, Out: &out, ErrOut: event.NewWriter(&out, time.Now)}
	root := &cobra.Command{Use: "x", RunE: cli.RunE(func(context.Context, []string) error { return err })}
	cli.Run(t.Context(), root, nil, streams)
	return out.Bytes()
}
