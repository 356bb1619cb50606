package jobs

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// cluster is an API server that has no jobs, and counts what it is asked.
type cluster struct {
	mu    sync.Mutex
	asked []string
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":[]}`)
}

// take returns the requests since its last call.
func (c *cluster) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

const aHandle = `{"version":1,"job_id":"done-1","backend":"gke","namespace":"ml","k8s_name":"kinetic-done-1","func_name":"f","call_kind":"function","hosts":1,
 "created_at":"2026-01-01T00:00:00Z"}`

// endedJob makes a bucket with a job that has succeeded.
func endedJob(t *testing.T) {
	t.Helper()
	useBucket(t, map[string]string{
		"done-1/handle.json": aHandle, "done-1/call.json": "{}",
		"done-1/end.json":       `{"version":1,"state":"SUCCEEDED","reason":"Completed","by":"runner"}`,
		"done-1/result.json":    `{"version":1,"ok":true,"pickle":null,"error":null,"value":[1,2]}`,
		"done-1/logs/0/1-1.log": "2026-11-20T08:20:20.000000Z hello\n",
	})
}

// useBucket makes a bucket with these objects, and uses it as the store.
func useBucket(t *testing.T, texts map[string]string) {
	t.Helper()
	var objects []fakestorage.Object
	for name, text := range texts {
		objects = append(objects, fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "acme-jobs", Name: name}, Content: []byte(text)})
	}
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, InitialObjects: objects})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake.HTTPHandler())
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	t.Setenv("KINETIC_STORE", "gs://acme-jobs")
	t.Setenv("HOME", t.TempDir())
}

// useCluster makes the kubeconfig point to a server.
func useCluster(t *testing.T, url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"ml"}}],
 "clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}]}`, url)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
}

// kinetic runs a command as the user would type it.
func kinetic(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	code = cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), args, streams)
	return code, stdout.String(), stderr.String()
}

// The runner of a job that has succeeded died before it had tidied up the outputs.
func TestResultTidiesUpOutputs(t *testing.T) {
	sum := sha256.Sum256([]byte("a state"))
	useBucket(t, map[string]string{
		"done-1/handle.json": aHandle, "done-1/call.json": "{}",
		"done-1/end.json":    `{"version":1,"state":"SUCCEEDED","reason":"Completed","by":"runner"}`,
		"done-1/result.json": `{"version":1,"ok":true,"pickle":null,"error":null,"value":1}`,
		"done-1/sync/0.json": fmt.Sprintf(`{"version":2,"attempt":1,"ended":true,"files":[{"path":"last.pt","size":7,"sha256":"%x","mode":420,"object":"sync/0/aa"}]}`, sum),
		"done-1/sync/0/aa":   "a state",
	})
	useCluster(t, "https://127.0.0.1:1")
	if code, out, said := kinetic(t, "result", "done-1", "--cleanup=false"); code != 0 || out != "1\n" || said != "" {
		t.Fatalf("exit code %d, printed %q, said %q", code, out, said)
	}
	answer, err := http.Get(os.Getenv("STORAGE_EMULATOR_HOST") + "/storage/v1/b/acme-jobs/o/done-1%2Foutputs%2Flast.pt?alt=media")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "a state" {
		t.Errorf("the output is %q, %v", text, err)
	}
}

// The store has what a job returned. The only requests to the cluster are those that
// delete the job's workload.
func TestResultOfAJobThatHasEnded(t *testing.T) {
	endedJob(t)
	c := &cluster{}
	server := httptest.NewServer(c)
	useCluster(t, server.URL)
	result := func(args ...string) (said string, asked []string) {
		t.Helper()
		code, out, said := kinetic(t, append([]string{"result", "done-1"}, args...)...)
		if code != 0 || out != "[1,2]\n" {
			t.Errorf("result %v: exit code %d, printed %q, said %q", args, code, out, said)
		}
		return said, c.take()
	}
	if said, asked := result("--cleanup=false"); len(asked) > 0 || said != "" {
		t.Errorf("asked %v, said %q", asked, said)
	}
	workload := []string{"/apis/batch/v1/namespaces/ml/jobs", "/api/v1/namespaces/ml/pods"}
	if said, asked := result(); len(asked) == 0 || said != "" || slices.ContainsFunc(asked, func(r string) bool {
		return !slices.ContainsFunc(workload, func(path string) bool { return r == "GET "+path })
	}) {
		t.Errorf("to remove the workload it asked %v, said %q", asked, said)
	}
	for _, args := range [][]string{nil, {"--cleanup=false"}, {"--cleanup"}} { // it was collected
		if said, asked := result(args...); len(asked) > 0 || said != "" {
			t.Errorf("%v: asked %v, said %q", args, asked, said)
		}
	}
	code, out, said := kinetic(t, "status", "done-1", "-o", "json")
	if want := "{\n  \"id\": \"done-1\",\n  \"state\": \"NOT_FOUND\",\n  \"ended\": \"SUCCEEDED\",\n  \"end\": \"ended SUCCEEDED, its value was collected\",\n  \"collected\": true,\n"; code != 0 || !strings.HasPrefix(out, want) {
		t.Errorf("its status: exit code %d, printed %q, said %q", code, out, said)
	}
	c.take()
	for _, args := range [][]string{{"logs", "done-1"}, {"logs", "-f", "done-1"}, {"tail", "-f", "done-1"}} {
		if code, out, said := kinetic(t, args...); code != 0 || out != "hello\n" || said != "" {
			t.Errorf("%v: exit code %d, printed %q, said %q", args, code, out, said)
		}
		if asked := c.take(); len(asked) > 0 {
			t.Errorf("%v asked %v", args, asked)
		}
	}
	server.Close()
	if said, _ := result(); said != "" {
		t.Errorf("without the cluster it said %q", said)
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	if said, _ := result("--cleanup=false"); said != "" {
		t.Errorf("without a kubeconfig it said %q", said)
	}
	for _, args := range [][]string{{"describe", "done-1"}, {"wait", "done-1"}, {"logs", "done-1"}, {"logs", "-f", "done-1"}, {"status", "done-1"}} {
		if code, out, said := kinetic(t, args...); code != 0 {
			t.Errorf("%v: exit code %d, printed %q, said %q", args, code, out, said)
		}
	}
	if code, out, said := kinetic(t, "status", "done-1"); code != 0 || out != "NOT_FOUND\n" || said != "job done-1 ended SUCCEEDED, its value was collected\n" {
		t.Errorf("its status without the cluster: exit code %d, printed %q, said %q", code, out, said)
	}
	if code, _, said := kinetic(t, "result", "done-1", "--cleanup=delete"); code != 0 || said != "" {
		t.Errorf("its deletion: exit code %d, said %q", code, said)
	}
	if code, out, said := kinetic(t, "result", "done-1"); code != cli.ExitFailed || out != "" || !strings.Contains(said, "its result was deleted") {
		t.Errorf("after its deletion: exit code %d, printed %q, said %q", code, out, said)
	}
	if code, _, said := kinetic(t, "status", "done-2"); code != cli.ExitUsage || !strings.Contains(said, "kubeconfig") {
		t.Errorf("of a job that the store doesn't know: exit code %d, said %q", code, said)
	}
}

// The value that a job returned before it was cancelled can be printed.
func TestResultOfAJobThatWasCancelledLater(t *testing.T) {
	objects := map[string]string{
		"done-1/handle.json": aHandle,
		"done-1/end.json":    `{"version":1,"state":"FAILED","reason":"Cancelled","message":"cancelled","exit_code":143,"by":"cancel"}`,
		"done-1/result.json": `{"version":1,"ok":true,"pickle":null,"error":null,"value":7}`,
	}
	useBucket(t, objects)
	server := httptest.NewServer(&cluster{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
	code, out, said := kinetic(t, "result", "done-1")
	if code != 0 || out != "7\n" || said != "warning: job done-1 was cancelled after its value was stored\n" {
		t.Errorf("exit code %d, printed %q, said %q", code, out, said)
	}
	objects["done-1/result.json"] = `{"version":1,"ok":false,"pickle":null,"error":{"type":"KeyError","message":"k","traceback":""},"value":null}`
	useBucket(t, objects)
	if code, out, said := kinetic(t, "result", "done-1"); code != cli.ExitFailed || out != "" {
		t.Errorf("without a value: exit code %d, printed %q, said %q", code, out, said)
	}
}

// A job that runs has written files, none of which is finished: that is not nothing.
func TestOutputsOfWhichNoneIsSaved(t *testing.T) {
	useBucket(t, map[string]string{
		"done-1/handle.json": aHandle, "done-1/call.json": "{}",
		"done-1/sync/0.json": `{"version":2,"attempt":1,"files":[],"pending":["last.pt.tmp","metrics.db"]}`,
	})
	useCluster(t, "https://127.0.0.1:1")
	const want = "job done-1 has no outputs in gs://acme-jobs/done-1/outputs yet: 2 outputs written, none saved yet: last.pt.tmp, metrics.db\n"
	if code, out, said := kinetic(t, "outputs", "done-1", "ls"); code != 0 || out != "" || said != want {
		t.Errorf("exit code %d, printed %q, said %q, want %q", code, out, said, want)
	}
}
