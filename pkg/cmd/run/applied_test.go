package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
)

// imagesOfRegistry is a registry that has every image, with the same digest.
func imagesOfRegistry(t *testing.T, digest string) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Docker-Content-Digest", digest)
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Content-Length", "10")
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// workloads are what was created in a cluster that takes everything: Jobs and LeaderWorkerSets, as JSON.
type workloads struct {
	mu      sync.Mutex
	created []string
}

func (c *workloads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/apis/leaderworkerset.x-k8s.io/v1" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"APIResourceList","resources":[{"name":"leaderworkersets","kind":"LeaderWorkerSet","namespaced":true}]}`)
		return
	}
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/jobs/") {
		http.NotFound(w, r)
		return
	}
	if r.Method == http.MethodPost && (strings.HasSuffix(r.URL.Path, "/jobs") || strings.HasSuffix(r.URL.Path, "/leaderworkersets")) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.created = append(c.created, string(body))
		c.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	obliging(w, r)
}

// newCluster is the cluster of the following runs.
func newCluster(t *testing.T) *workloads {
	t.Helper()
	cluster := &workloads{}
	server := httptest.NewServer(cluster)
	t.Cleanup(server.Close)
	if err := os.WriteFile(os.Getenv("KUBECONFIG"), fmt.Appendf(nil, kubeconfig, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return cluster
}

// images returns the images of the containers that run a call, with how they are pulled, in objects as JSON.
func images(t *testing.T, objects ...string) (found []string) {
	t.Helper()
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if v["name"] == api.ContainerName && v["image"] != nil {
				found = append(found, strings.TrimSpace(fmt.Sprint(v["image"], " ", stringOf(v["imagePullPolicy"]))))
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	for _, text := range objects {
		var o any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		walk(o)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func stringOf(v any) string {
	s, _ := v.(string)
	return s
}

// digest is that of the image that the job's registry has.
var digest = "sha256:" + strings.Repeat("ab", 32)

// newImageWorld is a world whose registry has the image of the project. It has overlays.
func newImageWorld(t *testing.T) (w world, repository string) {
	t.Helper()
	repository = imagesOfRegistry(t, digest) + "/me/env"
	component := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
	w = newWorld(t, map[string]string{"f.py": "def f(x=1):\n    return x\n", "requirements.txt": "six\n",
		"mirror/kustomization.yaml": component + "images:\n- {name: " + repository + ", newName: mirror.example/env}\n",
		"mine/kustomization.yaml":   component + "images:\n- {name: " + repository + ", newTag: mine}\n",
	})
	t.Setenv("KINETIC_IMAGE_REPO", repository)
	return w, repository
}

// TestAppliedByDigest: what is created names the image that was found, whatever its tag stands for later, unless an overlay names another.
// A dry-run, which may come before there is an image, shows the tag, and so does the handle.
func TestAppliedByDigest(t *testing.T) {
	w, repository := newImageWorld(t)
	for name, flags := range map[string][]string{
		"Job": nil, "indexed Job": {"--hosts", "2", "--backend", "gke"}, "LeaderWorkerSet": {"--hosts", "2"},
		"Pathways":  {"--backend", "pathways", "-a", "v6e-16", "--python", "3.12", "--pathways-version", "jax-0.9.2", "--pathways-images", repository},
		"warm host": {"--keep-warm", "10m"}, "warm hosts": {"--keep-warm", "10m", "--hosts", "2"},
	} {
		for overlay, suffix := range map[string]string{"": "@" + digest, "mirror": "@" + digest, "mine": ""} {
			t.Run(name+" "+overlay, func(t *testing.T) {
				cluster, flags := newCluster(t), slices.Clone(flags)
				if overlay != "" {
					flags = append(flags, "--overlay", overlay)
				}
				out, said, code := w.run(t, append([]string{"--dry-run", "-o", "json"}, flags...)...)
				shown := images(t, out)
				if code != 0 || len(shown) != 1 || strings.Contains(shown[0], "@") {
					t.Fatalf("a dry-run has the images %q, exit code %d: %s", shown, code, said)
				}
				out, said, code = w.run(t, append([]string{"--detach", "-o", "json"}, flags...)...)
				var handle api.Handle
				if err := json.Unmarshal([]byte(out), &handle); err != nil || strings.Contains(handle.ImageURI, "@") {
					t.Fatalf("exit code %d, %v, the handle has the image %q: %s", code, err, handle.ImageURI, said)
				}
				want := strings.TrimSuffix(shown[0], " Always") + suffix
				if got := images(t, cluster.created...); len(cluster.created) != 1 || !slices.Equal(got, []string{want}) {
					t.Errorf("%d objects with the images %q, want %s", len(cluster.created), got, want)
				}
			})
		}
	}
}

// TestShownByDigest: what asks the registry shows what would be applied.
func TestShownByDigest(t *testing.T) {
	w, _ := newImageWorld(t)
	newCluster(t)
	for _, flags := range []string{"--prepare", "--dry-run=server", "--dry-run=server --keep-warm 10m"} {
		out, said, code := w.run(t, append(strings.Fields(flags), "-o", "json")...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", flags, code, said)
		}
		if got := images(t, out); len(got) != 1 || !strings.HasSuffix(got[0], "@"+digest) {
			t.Errorf("%s: images %q", flags, got)
		}
	}
}

// TestANewJobIsNotTheOldOne: what was remembered of an ID is of an earlier job.
func TestANewJobIsNotTheOldOne(t *testing.T) {
	w, _ := newImageWorld(t)
	newCluster(t)
	old := api.Pickle{Name: "result.pkl", SHA256: strings.Repeat("ab", 32), Size: 1}
	backend.Reports().Remember("gs://"+bucketName, "nightly", old)
	if _, said, code := w.run(t, "--detach", "--job-id", "nightly"); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if _, known := backend.Reports().Recall("gs://"+bucketName, "nightly"); known {
		t.Error("the result of the earlier job is remembered")
	}
}
