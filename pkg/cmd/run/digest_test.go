package run

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// imageOf matches what an object says of its image.
var imageOf = regexp.MustCompile(`"image":"[^"]*"|"imagePullPolicy":"Always"`)

// TestImageIsAppliedByDigest: later pods of a job run the image that its submit found, whatever the tag stands for then.
func TestImageIsAppliedByDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Docker-Content-Digest", digest)
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Content-Length", "10")
	}))
	defer registry.Close()
	overlay := map[string]string{"o/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {team: ml}\n"}
	for name, flags := range map[string][]string{
		"a job": nil, "hosts": {"--hosts", "2", "--backend", "gke"}, "an overlay": {"--overlay", "o"},
		"a warm host": {"--keep-warm", "10m"}, "a warm host with an overlay": {"--keep-warm", "10m", "--overlay", "o"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"f.py": "def f(x=1):\n    return x\n", "requirements.txt": "six\n"}
			newWorld(t, files)
			for path, text := range overlay {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("KINETIC_IMAGE_REPO", strings.TrimPrefix(registry.URL, "http://")+"/me/env")
			var images []string
			cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/jobs") {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					images = append(images, imageOf.FindAllString(string(body), -1)...)
					r.Body = io.NopCloser(bytes.NewReader(body))
				}
				obliging(w, r)
			}))
			defer cluster.Close()
			if err := os.WriteFile(os.Getenv("KUBECONFIG"), fmt.Appendf(nil, kubeconfig, cluster.URL), 0o600); err != nil {
				t.Fatal(err)
			}
			streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
			code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), append([]string{"f.py:f", "--detach"}, flags...), streams)
			if len(images) == 0 {
				t.Fatalf("nothing was created: exit code %d\n%s%s", code, stdout, stderr)
			}
			for _, image := range images {
				if !strings.HasSuffix(image, "@"+digest+`"`) {
					t.Errorf("what is created says %s, not by the digest %s", image, digest)
				}
			}
			if strings.Contains(stdout.String(), digest) {
				t.Errorf("the handle has the digest in the image's name:\n%s", stdout)
			}
		})
	}
}
