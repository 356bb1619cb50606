package run

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// TestRequirementsOfURLs: what a run fetches is installed and is part of the image's name; what contacts nothing says so.
func TestRequirementsOfURLs(t *testing.T) {
	var text atomic.Value
	var asked atomic.Int32
	website := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, text.Load().(string))
	}))
	defer website.Close()
	trustServer(t, website)
	w := newWorld(t, map[string]string{"f.py": "def f():\n    return 1\n",
		"requirements.txt": "-c " + strings.Replace(website.URL, "https://", "https://me:s3cr3t@", 1) + "/limits.txt?token=t0ken\nsix\n"})

	dryRun := func() (image, said string) {
		t.Helper()
		before := asked.Load()
		out, said, code := w.run(t, "--dry-run", "-o", "yaml")
		if code != 0 || asked.Load() != before {
			t.Errorf("a dry run has exit code %d after %d requests: %s", code, asked.Load()-before, said)
		}
		return regexp.MustCompile(`env:r-[0-9a-f]+`).FindString(out), said
	}
	hidden := strings.Replace(website.URL, "https://", "https://***@", 1) + "/limits.txt?***"
	unknown, said := dryRun()
	if want := "requirements.txt:1: " + hidden + " is fetched only when a job is submitted; until then, its contents are not known, and a run uses a different image than localhost:1/me/" + unknown + "; --dry-run=server fetches the file\n"; !strings.Contains(said, want) {
		t.Errorf("before anything was fetched it said %q", said)
	}
	images := map[string]bool{unknown: true}
	for _, limit := range []string{"six<1.16", "six<1.17", "# the same\nsix<1.17"} {
		text.Store(limit + "\n")
		if out, said, code := w.run(t, "--dry-run=server", "-o", "yaml"); code != 0 {
			t.Fatalf("exit code %d: %s%s", code, said, out)
		}
		image, said := dryRun()
		if !strings.Contains(said, "using "+hidden+" as fetched at ") {
			t.Errorf("after it was fetched it said %q", said)
		}
		images[image] = true
	}
	if delete(images, ""); len(images) != 3 || asked.Load() != 3 {
		t.Errorf("%d requests gave the names %v: want one for each list of lines, and one while none is known", asked.Load(), images)
	}

	// The pod resolves with the lines, and sees no URL.
	text.Store("six<1.17\n")
	if out, said, code := w.run(t, "--image", "prebuilt", "--detach"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, said, out)
	}
	if stored := w.stored(t); !strings.Contains(stored, `: {"version":1,"requirements":["six"],"constraints":["six\u003c1.17"]}`) {
		t.Errorf("the store has %s", stored)
	}
	text.Store("<html>\n")
	if _, said, code := w.run(t, "--detach"); code != cli.ExitUsage || !strings.Contains(said, "error: "+hidden+":1: column 1 of") {
		t.Errorf("a page: exit code %d, said %q", code, said)
	}
	website.Close()
	_, said, code := w.run(t, "--detach")
	if code != cli.ExitFailed || !strings.Contains(said, "error: requirements.txt:1: fetching "+hidden+": ") {
		t.Errorf("a website that is gone: exit code %d, said %q", code, said)
	}
	if strings.Contains(said, "s3cr3t") || strings.Contains(said, "t0ken") {
		t.Errorf("credentials are shown: %s", said)
	}
	// Nothing is fetched for an image that has its packages.
	if _, said, code := w.run(t, "--image", "me/mine:1", "--no-image-check", "--detach"); code != 0 {
		t.Errorf("an image of the user: exit code %d: %s", code, said)
	}
}

// TestMapOfStdinWithRequirementsOfURLs: the job is planned again after the fetch, but standard input can be read only once.
func TestMapOfStdinWithRequirementsOfURLs(t *testing.T) {
	website := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "six<1.17\n")
	}))
	defer website.Close()
	trustServer(t, website)
	w := newWorld(t, map[string]string{"f.py": "def f(n):\n    return n\n", "requirements.txt": "-c " + website.URL + "/limits.txt\nsix\n"})
	streams, in, _, stderr := genericiooptions.NewTestIOStreams()
	in.WriteString("1\n2\n")
	code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), []string{"f.py:f", "--map", "-", "--image", "prebuilt", "--detach"}, streams)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if stored := w.stored(t); !strings.Contains(stored, ": 1\n2\n\n") || !strings.Contains(stored, `"inputs": 2,`) {
		t.Errorf("the store has %s", stored)
	}
}

// TestAVariableThatIsNotSet: what would stop a run is said by --explain and dry-runs, too, and the variable is named.
func TestAVariableThatIsNotSet(t *testing.T) {
	w := newWorld(t, map[string]string{"f.py": "def f():\n    return 1\n", "requirements.txt": "--extra-index-url https://${KINETIC_TEST_TOKEN}@h.example/simple\nsix\n"})
	const why = "requirements.txt: --extra-index-url: the variable KINETIC_TEST_TOKEN is not set: export it first"
	for _, flags := range []string{"--dry-run=server", "--prepare", "--detach", "--detach --image prebuilt", "--explain --image prebuilt", "--dry-run --image prebuilt"} {
		_, said, code := w.run(t, strings.Fields(flags)...)
		if code != cli.ExitUsage || !strings.HasSuffix(said, "error: "+why+"\n") {
			t.Errorf("%s: exit code %d, said %q", flags, code, said)
		}
	}
	for _, flags := range []string{"--explain", "--dry-run"} { // someone else may have made the image
		out, said, code := w.run(t, flags)
		if want := why + "; a run fails, unless the image is there"; code != 0 || strings.Count(out+said, want) != 1 {
			t.Errorf("%s: exit code %d, printed %q and said %q", flags, code, out, said)
		}
	}
	if stored := w.stored(t); stored != "" {
		t.Errorf("the store has %s", stored)
	}
	if _, said, code := w.run(t, "--image", "me/mine:1", "--explain"); code != 0 {
		t.Errorf("an image of the user: exit code %d: %s", code, said)
	}
}

// trustServer lets the clients of this process trust a server.
func trustServer(t *testing.T, server *httptest.Server) {
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	with := before.(*http.Transport).Clone()
	with.TLSClientConfig = &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
	http.DefaultTransport = with
}

// world is a machine on which nothing resolves, with a project, and a bucket and a cluster that take everything.
type world struct{ bucket *fakestorage.Server }

const bucketName = "acme-jobs"

// run runs f.py:f of the project.
func (world) run(t *testing.T, flags ...string) (out, said string, code int) {
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	code = cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), append([]string{"f.py:f"}, flags...), streams)
	return stdout.String(), stderr.String(), code
}

// stored returns the small objects of the bucket.
func (w world) stored(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	objects, err := w.bucket.Backend().ListObjects(bucketName, "", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		object, err := w.bucket.GetObject(bucketName, o.Name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s: %s\n", o.Name, object.Content)
	}
	return all.String()
}

func newWorld(t *testing.T, files map[string]string) world {
	t.Helper()
	python := findPython(t)
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true})
	if err != nil {
		t.Fatal(err)
	}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucketName})
	storage, cluster := httptest.NewServer(fake.HTTPHandler()), httptest.NewServer(http.HandlerFunc(obliging))
	t.Cleanup(storage.Close)
	t.Cleanup(cluster.Close)
	dir := t.TempDir()
	all := map[string]string{"config": fmt.Sprintf(kubeconfig, cluster.URL),
		"bin/python3": "#!/bin/sh\ncase \"$*\" in '-I -S -c '*version_info*) echo 3.9 ;; *) exec " + python + " \"$@\" ;; esac\n"}
	for name, text := range files {
		all["project/"+name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"KUBECONFIG": filepath.Join(dir, "config"), "STORAGE_EMULATOR_HOST": storage.URL, "KINETIC_STORE": "gs://" + bucketName,
		"HOME": filepath.Join(dir, "home"), "XDG_CACHE_HOME": filepath.Join(dir, "cache"), "PATH": filepath.Join(dir, "bin"), "KINETIC_IMAGE_REPO": "localhost:1/me/env"} {
		t.Setenv(name, value)
	}
	t.Chdir(filepath.Join(dir, "project"))
	return world{fake}
}
