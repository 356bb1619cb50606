package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// server answers lists of the objects in testdata/list, one object a page, and
// remembers what it was asked for.
type server struct {
	forbid string // a resource
	mu     sync.Mutex
	asked  []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	resource := filepath.Base(r.URL.Path)
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s %s limit=%s", resource, q.Get("labelSelector"), q.Get("limit")))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if resource == s.forbid {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`))
		return
	}
	items := objects(resource)
	page := 0
	_, _ = fmt.Sscan(q.Get("continue"), &page)
	metadata := map[string]any{"resourceVersion": "7"}
	if page+1 < len(items) {
		metadata["continue"] = fmt.Sprint(page + 1)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": kindOf[resource], "apiVersion": apiOf[resource], "metadata": metadata, "items": items[page : page+1]})
}

var (
	kindOf = map[string]string{"jobs": "JobList", "leaderworkersets": "PartialObjectMetadataList", "pods": "PodList", "events": "EventList"}
	apiOf  = map[string]string{"jobs": "batch/v1", "leaderworkersets": "meta.k8s.io/v1", "pods": "v1", "events": "v1"}
)

// objects reads a file of testdata/list.
func objects(resource string) []any {
	data, err := os.ReadFile(filepath.Join("testdata", "list", resource+".yaml"))
	if err != nil {
		panic(err)
	}
	var list struct{ Items []any }
	if err := yaml.Unmarshal(data, &list); err != nil {
		panic(err)
	}
	return list.Items
}

func clusterOf(t *testing.T, s *server, told ...func(string)) *Cluster {
	t.Helper()
	told = append(told, nil)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "", told[0])
	if err != nil {
		t.Fatal(err)
	}
	return New(c)
}

func TestList(t *testing.T) {
	at := func(clock string) time.Time {
		stamp, err := time.Parse(time.RFC3339, "2026-04-17T"+clock+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return stamp
	}
	one := 1
	ours := api.JobSummary{ID: "l4-train-20260417-153012-abc1234", Namespace: "ml", Store: "gs://team", Function: "train", Accelerator: "l4", Hosts: 1, Created: at("15:30:12")}
	others := api.JobSummary{ID: "cpu-f-20260417-153100-abc1234", Namespace: "other", Store: "gs://team", Function: "f", Accelerator: "cpu", Hosts: 1, Created: at("15:31:00")}
	python := api.JobSummary{ID: "job-1a2b3c4d", Namespace: "ml", Store: "gs://acme-kn-main-jobs", Hosts: 1, Created: at("15:29:00")}
	group := api.JobSummary{ID: "v6e16-train-20260417-152800-abc1234", Namespace: "ml", Store: "gs://team", Function: "train", Accelerator: "v6e-16", Created: at("15:28:00")}
	labels := func(r *api.JobSummary, app string) {
		r.Workload.Labels = map[string]string{api.LabelApp: app, api.LabelJobID: r.ID}
	}
	labels(&ours, api.AppSingleHost)
	labels(&others, api.AppSingleHost)
	labels(&python, api.AppSingleHost)
	labels(&group, api.AppSet)
	ours.Workload.Labels[api.LabelAccelerator] = "gpu"
	ours.Capacity, ours.Workload.Labels[api.LabelCapacity] = api.CapacitySpot, "spot"
	python.Workload.ByPythonTool = true
	names := []api.JobSummary{others, python, ours, group}

	ours.Status, ours.Pods = api.Status{State: api.Pending, Attempt: 1}, []string{"kinetic-l4-train-20260417-153012-abc1234-x7x7x"}
	others.Status = api.Status{State: api.Succeeded, Reason: api.Completed, Finished: at("15:32:00")}
	python.Node, python.Pods = "gke-main-gpu-l4-3f2c-0", []string{"kinetic-job-1a2b3c4d-8f8f8"}
	python.Status = api.Status{State: api.Failed, Reason: api.ExitCode, ExitCode: &one, Attempt: 1, Started: at("15:29:30"), Finished: at("15:29:40")}
	group.Status = api.Status{State: api.Failed, Reason: api.Exception, Message: "ValueError: bad", ExitCode: &one, Attempt: 2, Started: at("15:28:30"), Finished: at("15:30:00")}
	ours.Workload.Hosts = []api.Host{{Pod: ours.Pods[0], State: api.Pending, Message: "no node yet"}}
	python.Workload.Hosts = []api.Host{{Pod: python.Pods[0], Node: python.Node, State: api.Failed, Message: "exit code 1", Started: at("15:29:30"), Finished: at("15:29:40")}}
	states := []api.JobSummary{others, python, ours, group}
	for i := range states {
		states[i].State = states[i].Status.State
	}

	for name, tt := range map[string]struct {
		level api.ListLevel
		want  []api.JobSummary
		asked []string
	}{
		"names need no pods":      {api.ListNames, names, []string{"jobs", "leaderworkersets"}},
		"states need no events":   {api.ListStates, states, []string{"jobs", "leaderworkersets", "pods"}},
		"reasons need everything": {api.ListReasons, states, []string{"events", "jobs", "leaderworkersets", "pods"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			got, err := clusterOf(t, s).List(t.Context(), tt.level)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(got, func(a, b api.JobSummary) int { return cmp.Compare(a.ID, b.ID) })
			if tt.level == api.ListReasons {
				if why := got[2].Status.Message; !strings.Contains(why, "gke-main-gpu-l4-3f2c") {
					t.Errorf("it waits because %q, want the scale-up", why)
				}
				got[2].Status.Message, got[2].Status.Next = "", ""
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var kinds []string
			for _, a := range s.asked {
				kind, rest, _ := strings.Cut(a, " ")
				kinds = append(kinds, kind)
				if kind != "events" && rest != "app in (kinetic,kinetic-pathways),job-id limit=2500" {
					t.Errorf("asked for %s", a)
				}
			}
			slices.Sort(kinds)
			if diff := gocmp.Diff(tt.asked, slices.Compact(kinds)); diff != "" {
				t.Errorf("asked for (-want +got)\n%s", diff)
			}
		})
	}
}

func TestListWithoutTheRightToReadEvents(t *testing.T) {
	got, err := clusterOf(t, &server{forbid: "events"}).List(t.Context(), api.ListReasons)
	if err != nil || len(got) != 4 {
		t.Errorf("%d jobs, %v; want 4", len(got), err)
	}
}

// A list that may lack jobs says so.
func TestListWithoutTheRightToReadSets(t *testing.T) {
	told := ""
	got, err := clusterOf(t, &server{forbid: "leaderworkersets"}, func(line string) { told += line }).List(t.Context(), api.ListStates)
	if err != nil || len(got) != 3 {
		t.Errorf("%d jobs, %v; want 3", len(got), err)
	}
	if !strings.Contains(told, "jobs on several hosts, if any, are not listed: listing leaderworkersets") {
		t.Errorf("told %q", told)
	}
}

func TestReadingStopsAtAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &server{}
	c := clusterOf(t, s).client
	objects := c.selections("")
	pods := objects[2]
	seen := 0
	pods.keep = func(o runtime.Object) runtime.Object {
		seen++
		cancel()
		return o
	}
	if _, _, err := c.read(ctx, pods); !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("%d pages, %v; want one, and that it was cancelled", seen, err)
	}
}
