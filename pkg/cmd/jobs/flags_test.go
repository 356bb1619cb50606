package jobs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// sweep is an API server with two Jobs, one of which runs, and no way to delete any.
type sweep struct{ cluster }

func (s *sweep) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		<-r.Context().Done() // nothing changes
		return
	}
	item := func(id, label, rest string) string {
		set := labels.Set{"app": "kinetic", "job-id": id, "sweep": label}
		selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
		if field := r.URL.Query().Get("fieldSelector"); err != nil || !selector.Matches(set) || field != "" && field != "metadata.name=kinetic-"+id {
			return ""
		}
		of, _ := json.Marshal(set)
		return fmt.Sprintf(`{"metadata":{"name":"kinetic-%s","namespace":"ml","uid":%[1]q,"creationTimestamp":"2026-01-0%sT00:00:00Z","labels":%s,
 "annotations":{"kubectl-kinetic.github.io/function":"f","kubectl-kinetic.github.io/store":"gs://acme-jobs"}},%s}`, id, id[len(id)-1:], of, rest)
	}
	list := func(version, kind string, items ...string) {
		items = slices.DeleteFunc(items, func(item string) bool { return item == "" })
		fmt.Fprintf(w, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"1"},"items":[%s]}`, version, kind, strings.Join(items, ","))
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/jobs"):
		list("batch/v1", "JobList", item("cpu-a-1", "7", `"status":{}`), item("cpu-b-2", "8", `"status":{"conditions":[{"type":"Failed","status":"True"}]}`))
	case strings.HasSuffix(r.URL.Path, "/pods"):
		list("v1", "PodList", item("cpu-a-1", "7", `"spec":{"nodeName":"n1","containers":[{"name":"kinetic-worker"}]},
 "status":{"phase":"Running","containerStatuses":[{"name":"kinetic-worker","state":{"running":{}}}]}`))
	default:
		s.cluster.ServeHTTP(w, r)
	}
}

// useSweep makes the kubeconfig point to a cluster with two jobs, the newer of which is someone else's.
func useSweep(t *testing.T) {
	t.Helper()
	handle := func(id, user string) string {
		return fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","namespace":"ml","k8s_name":"kinetic-%[1]s","func_name":"f","accelerator":"cpu","call":"f.py:f(n=1)","hosts":1,
 "image_uri":"python:3.12","cpu":"2","memory":"4Gi","retries":2,"user":%q,"git_commit":"abc","created_at":"2026-01-01T00:00:00Z"}`, id, user)
	}
	useBucket(t, map[string]string{"cpu-a-1/handle.json": handle("cpu-a-1", job.CurrentUser()), "cpu-b-2/handle.json": handle("cpu-b-2", "somebody-else")})
	server := httptest.NewServer(&sweep{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
}

func TestJobsAreChosenByFlags(t *testing.T) {
	useSweep(t)
	for name, tt := range map[string]struct {
		args []string
		code int
		out  string
	}{
		"a label":                  {[]string{"list", "-l", "sweep=7", "-o", "name"}, 0, "cpu-a-1\n"},
		"a set of labels":          {[]string{"list", "-l", "sweep in (7, 8),app=kinetic", "-o", "name"}, 0, "cpu-b-2\ncpu-a-1\n"},
		"no such label":            {[]string{"list", "-l", "sweep=9"}, 0, ""},
		"mine":                     {[]string{"list", "--mine", "-o", "name"}, 0, "cpu-a-1\n"},
		"the newest of mine":       {[]string{"describe", "--last", "-o", "json"}, 0, "{\n  \"id\": \"cpu-a-1\""},
		"states of all that match": {[]string{"status", "-l", "app=kinetic"}, 0, "cpu-b-2   FAILED\ncpu-a-1   RUNNING\n"},
		"one with a label":         {[]string{"status", "--last", "-l", "sweep=7"}, 0, "RUNNING\n"},
		"none with a label":        {[]string{"status", "-l", "sweep=9"}, 1, ""},
		"none of mine with it":     {[]string{"status", "--last", "-l", "sweep=8"}, 1, ""},
		"one that has ended":       {[]string{"cancel", "-l", "sweep=8"}, 0, ""},
		"what is no selector":      {[]string{"status", "-l", "a b"}, 2, ""},
		"ids and flags":            {[]string{"status", "cpu-a-1", "--mine"}, 2, ""},
		"values of all that match": {[]string{"result", "-l", "sweep=8"}, 1, `{"id":"cpu-b-2","error":{"message":"failed`},
		"a file for several":       {[]string{"result", "-l", "app", "--output-file", "x"}, 2, ""},
		"results":                  {[]string{"list", "-l", "app", "-o", "results", "--no-headers", "-L", "sweep"}, 0, "cpu-b-2   n=1   FAILED    <none>   8     "},
		"a column of a label":      {[]string{"list", "-L", "sweep,app"}, 0, "ID        STATUS    FUNCTION   ACCELERATOR   AGE"},
		"cleanup, without a word":  {[]string{"cleanup", "--mine", "--dry-run"}, 0, "ID        STATUS    FUNCTION   AGE\ncpu-a-1   RUNNING   f "},
		"cleanup by a label":       {[]string{"cleanup", "-l", "sweep=8", "--dry-run"}, 0, "ID        STATUS   FUNCTION   AGE\ncpu-b-2   FAILED   f "},
		"cleanup of ids and more":  {[]string{"cleanup", "cpu-a-1", "--mine"}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said := kinetic(t, tt.args...)
			if code != tt.code || !strings.HasPrefix(out, tt.out) || tt.out == "" && out != "" {
				t.Errorf("exit code %d, printed %q, said %q", code, out, said)
			}
			if tt.out == "" && said == "" {
				t.Error("it said nothing")
			}
		})
	}
}

// If the cluster can't be read, that does not mean that there is nothing to cancel.
func TestFlagsWhereTheClusterIsAway(t *testing.T) {
	useSweep(t)
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refuse.Close)
	useCluster(t, refuse.URL)
	for _, args := range [][]string{{"cancel", "--mine"}, {"cancel", "-l", "sweep=7"}, {"status", "--mine"}, {"wait", "-l", "sweep=7"}} {
		if code, out, said := kinetic(t, args...); code != cli.ExitFailed || out != "" || strings.Contains(said, "no jobs found") {
			t.Errorf("%v: exit code %d, printed %q, said %q", args, code, out, said)
		}
	}
}

// If both the cluster and the store are missing, the error is about the cluster: with it,
// workloads would name their stores.
func TestNeitherAClusterNorAStore(t *testing.T) {
	for _, name := range []string{"KINETIC_STORE", "KINETIC_PROJECT", "GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "CLOUDSDK_CONFIG"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	server := httptest.NewServer(&cluster{})
	useCluster(t, server.URL)
	server.Close()
	for _, args := range []string{"status abc", "logs abc", "describe abc", "describe --last", "result abc", "wait abc", "cancel abc", "cleanup abc",
		"status abc def", "outputs abc", "list", "list --all", "cleanup --all --dry-run"} {
		code, out, said := kinetic(t, strings.Fields(args)...)
		if code != cli.ExitFailed || out != "" || !strings.Contains(said, "the API server can't be reached") || strings.Contains(said, "no store") {
			t.Errorf("%s: exit code %d, printed %q, said %q", args, code, out, said)
		}
	}
	server = httptest.NewServer(&cluster{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
	const noStore = `error: job "abc" not found, but some jobs could not be read: there is no store: set the project`
	code, _, said := kinetic(t, "status", "abc", "def")
	if code != cli.ExitFailed || !strings.HasPrefix(said, noStore) || strings.Count(said, "there is no store") != 2 {
		t.Errorf("with a cluster: exit code %d, said %q", code, said)
	}
	if code, _, said := kinetic(t, "status", "abc"); code != cli.ExitUsage || !strings.HasPrefix(said, noStore) {
		t.Errorf("with a cluster: exit code %d, said %q", code, said)
	}
}
