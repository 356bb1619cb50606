package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
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

// useSweep makes a cluster with two jobs the one of the kubeconfig: the newer is someone else's.
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
		"too many":                 {[]string{"result", "-l", "app"}, 2, ""},
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

// A cluster that can't be read is no reason to say that there is nothing to cancel.
func TestFlagsWhereTheClusterIsAway(t *testing.T) {
	useSweep(t)
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refuse.Close)
	useCluster(t, refuse.URL)
	for _, args := range [][]string{{"cancel", "--mine"}, {"cancel", "-l", "sweep=7"}, {"status", "--mine"}, {"wait", "-l", "sweep=7"}} {
		if code, out, said := kinetic(t, args...); code != process.ExitFailed || out != "" || strings.Contains(said, "no jobs found") {
			t.Errorf("%v: exit code %d, printed %q, said %q", args, code, out, said)
		}
	}
}

// What a list and describe tell programs has the same names, all in camelCase.
func TestWhatProgramsRead(t *testing.T) {
	useSweep(t)
	_, list, _ := kinetic(t, "list", "--mine", "-o", "json")
	var items struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(list), &items); err != nil || len(items.Items) != 1 {
		t.Fatalf("%v:\n%s", err, list)
	}
	_, described, _ := kinetic(t, "describe", "cpu-a-1", "-o", "json")
	var d map[string]any
	if err := json.Unmarshal([]byte(described), &d); err != nil {
		t.Fatalf("%v:\n%s", err, described)
	}
	for key, want := range map[string]any{"call": "f.py:f(n=1)", "image": "python:3.12", "cpu": "2", "memory": "4Gi", "maxAttempts": 3.0, "user": job.CurrentUser(), "gitCommit": "abc"} {
		if items.Items[0][key] != want || d[key] != want {
			t.Errorf("%s: the list has %v, describe %v, want %v", key, items.Items[0][key], d[key], want)
		}
	}
	if got := fmt.Sprint(items.Items[0]["pods"]); got != "[kinetic-cpu-a-1]" {
		t.Errorf("the list has the pods %s", got)
	}
	if log, found := d["logBytes"]; !found || log != nil {
		t.Errorf("the log of a job that runs has %v bytes", log)
	}
	for key := range d {
		if strings.Contains(key, "_") {
			t.Errorf("describe has the key %s", key)
		}
	}
}

func TestDescribeShowsWhatAJobIsMadeOf(t *testing.T) {
	useSweep(t)
	code, out, said := kinetic(t, "describe", "cpu-a-1", "cpu-b-2", "cpu-c-3")
	if code != process.ExitFailed || !strings.Contains(said, `error: job "cpu-c-3" not found`) {
		t.Errorf("exit code %d, said %q", code, said)
	}
	for _, row := range []string{"Call: f.py:f(n=1)", "Runs on: cpu, Job kinetic-cpu-a-1 in namespace ml", "Submitted by: " + job.CurrentUser(), "Commit: abc", "Image: python:3.12", "Requests: cpu 2, memory 4Gi",
		"Attempts: at most 3, not counting lost machines", "Pod: kinetic-cpu-a-1", "Log: nothing stored yet", "ID: cpu-b-2"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), row) {
			t.Errorf("there is no %q:\n%s", row, out)
		}
	}
}

// An empty list says where it looked, and that there are local jobs.
func TestAnEmptyList(t *testing.T) {
	useBucket(t, nil)
	server := httptest.NewServer(&cluster{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
	for n, want := range []string{"no jobs found in namespace ml\n", "no jobs found in namespace ml; 1 local job exists: add --local\n", "no jobs found in namespace ml; 2 local jobs exist: add --local\n"} {
		state := t.TempDir()
		t.Setenv("XDG_STATE_HOME", state)
		for i := range n {
			if err := os.MkdirAll(filepath.Join(state, "kinetic", "local", fmt.Sprintf("job-%d", i)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if code, out, said := kinetic(t, "list"); code != 0 || out != "" || said != want {
			t.Errorf("%d local jobs: exit code %d, printed %q, said %q", n, code, out, said)
		}
	}
	if _, _, said := kinetic(t, "list", "-A"); !strings.HasPrefix(said, "no jobs found in any namespace") {
		t.Errorf("of all namespaces it said %q", said)
	}
}

// The error of one of several jobs begins with its ID, once.
func TestErrorsNameTheirJobOnce(t *testing.T) {
	for text, want := range map[string]string{
		"the bucket is locked":            "job a1: the bucket is locked",
		"job a1: there is no Job":         "job a1: there is no Job",
		"job a1 was asked to end":         "job a1 was asked to end",
		"job a12: there is another Job":   "job a1: job a12: there is another Job",
		"list: job a1: there is no store": "job a1: list: job a1: there is no store",
	} {
		_, errs := each([]*job.Job{{Handle: api.Handle{JobID: "a1"}}}, func(*job.Job) (int, error) { return 0, errors.New(text) })
		if got := errs[0].Error(); got != want {
			t.Errorf("of %q: got %q, want %q", text, got, want)
		}
	}
}

func TestParseOutputArgs(t *testing.T) {
	sub := &cobra.Command{Use: "outputs"}
	for typed, want := range map[string]string{
		"a1":              "[a1] ls []",
		"a1 ls":           "[a1] ls []",
		"a1 ls deep":      "[a1] ls [deep]",
		"ls a1":           "[a1] ls []",
		"ls a1 deep":      "[a1] ls [deep]",
		"cp a1 out":       "[a1] cp [out]",
		"a1 cp deep out":  "[a1] cp [deep out]",
		"cat a1 x y":      "[a1] cat [x y]",
		"cat ls":          "[cat] ls []",
		"ls ls ls":        "[ls] ls [ls]",
		"":                "job ID required",
		"cp":              "job ID required",
		"a1 cp":           "outputs cp takes [PATH] DEST, got 0 arguments",
		"a1 cpu-out":      `"cpu-out" is not a command; expected ls, cp or cat after the job ID`,
		"a1 get":          `did you mean "cp"?`,
		"ls a1 deep more": "outputs ls takes [PATH], got 2 arguments",
		"--last":          "[] ls []",
		"--last cp out":   "[] cp [out]",
		"--last cat":      "outputs cat takes PATH…, got 0 arguments",
	} {
		words := strings.Fields(typed)
		flagged := len(words) > 0 && words[0] == "--last"
		if flagged {
			words = words[1:]
		}
		a, err := parseOutputArgs(sub, words, flagged)
		got := fmt.Sprint(a.ids, " ", a.verb, " ", a.args)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", typed, got, want)
		}
	}
}
