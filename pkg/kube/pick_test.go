package kube

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// tabular answers as an API server with some Jobs, each with a pod: a list of all Jobs as pages of a table,
// any other list of those that the labels select.
type tabular struct {
	rows    []string
	jobs    []batchv1.Job
	pods    []corev1.Pod
	encoder runtime.Encoder
	forbid  string // a resource
}

// newTabular makes a server with this many Jobs. Every third has ended, every fifth may be a map.
func newTabular(tb testing.TB, number int) *tabular {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	s := &tabular{encoder: protobuf.NewSerializer(scheme, scheme)}
	for i := range number {
		job, pod := jobAndPod(fmt.Sprintf("cpu-train-20260101-%06d-%07x", i, i))
		state, completions := "Running", "0/1"
		if i%3 == 0 {
			state = "Complete"
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
			pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		}
		if i%5 == 0 {
			completions = "0/40"
		}
		s.rows = append(s.rows, fmt.Sprintf(`{"cells":[%q,%q,%q,"5m3s","5d7h","kinetic-worker","us-docker.pkg.dev/acme/images/train:latest","batch.kubernetes.io/controller-uid=%08d-0000-0000-0000-000000000000"],"object":null}`,
			job.Name, state, completions, i))
		s.jobs, s.pods = append(s.jobs, job), append(s.pods, pod)
	}
	return s
}

func (s *tabular) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource, query := path.Base(r.URL.Path), r.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	var list runtime.Object
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case resource == s.forbid:
		w.WriteHeader(http.StatusForbidden)
		return
	case r.Header.Get("Accept") == apiserver.AcceptTable && resource == "jobs" && query.Get("includeObject") == "None":
		s.write(w, query)
		return
	case resource == "jobs":
		jobs := &batchv1.JobList{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"}}
		for i := range s.jobs {
			if selector.Matches(labels.Set(s.jobs[i].Labels)) {
				jobs.Items = append(jobs.Items, s.jobs[i])
			}
		}
		list = jobs
	case resource == "pods":
		pods := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		for i := range s.pods {
			if selector.Matches(labels.Set(s.pods[i].Labels)) {
				pods.Items = append(pods.Items, s.pods[i])
			}
		}
		list = pods
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	_ = s.encoder.Encode(list, w)
}

// write writes a page of all Jobs as a table.
func (s *tabular) write(w io.Writer, query url.Values) {
	limit, _ := strconv.Atoi(query.Get("limit"))
	first, _ := strconv.Atoi(query.Get("continue"))
	rows, metadata := s.rows[first:], ""
	if next := first + limit; next < len(s.rows) {
		rows, metadata = s.rows[first:next], fmt.Sprintf(`"continue":"%d"`, next)
	}
	fmt.Fprintf(w, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{%s},"columnDefinitions":[`+
		`{"name":"Name"},{"name":"Status"},{"name":"Completions"},{"name":"Duration"},{"name":"Age"},{"name":"Containers"},{"name":"Images"},{"name":"Selector"}],"rows":[%s]}`,
		metadata, strings.Join(rows, ","))
}

// pickedFrom returns a cluster on a server.
func pickedFrom(tb testing.TB, handler http.Handler) *Cluster {
	tb.Helper()
	web := httptest.NewServer(handler)
	tb.Cleanup(web.Close)
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
	if err != nil {
		tb.Fatal(err)
	}
	return New(c)
}

func TestPick(t *testing.T) {
	var all []api.JobSummary
	firstTwo := func(given []api.JobSummary) []api.JobSummary {
		all = given
		return given[:2]
	}
	describe := func(jobs []api.JobSummary) []string {
		var lines []string
		for _, j := range jobs {
			lines = append(lines, fmt.Sprintf("%s %s %s map=%v", j.ID[len(j.ID)-1:], j.State, j.Function, j.Map))
		}
		slices.Sort(lines)
		return lines
	}
	t.Run("all in a table, some as they are", func(t *testing.T) {
		got, err := pickedFrom(t, newTabular(t, 4)).Pick(t.Context(), firstTwo)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff([]string{"0 SUCCEEDED  map=true", "1   map=false", "2   map=false", "3 SUCCEEDED  map=false"}, describe(all)); diff != "" {
			t.Errorf("all (-want +got):\n%s", diff)
		}
		if age := time.Since(all[0].Created).Round(time.Hour); age != (5*24+7)*time.Hour {
			t.Errorf("the age is %v", age)
		}
		if diff := gocmp.Diff([]string{"0 SUCCEEDED train map=false", "1 RUNNING train map=false"}, describe(got)); diff != "" {
			t.Errorf("picked (-want +got):\n%s", diff)
		}
	})
	t.Run("pods can't be read", func(t *testing.T) {
		server := newTabular(t, 4)
		server.forbid = "pods"
		got, err := pickedFrom(t, server).Pick(t.Context(), firstTwo)
		if diff := gocmp.Diff([]string{"0 SUCCEEDED  map=true", "1   map=false"}, describe(got)); diff != "" || err == nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("jobs can't be read", func(t *testing.T) {
		server := newTabular(t, 4)
		server.forbid = "jobs"
		if got, err := pickedFrom(t, server).Pick(t.Context(), firstTwo); got != nil || err == nil {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("none is picked", func(t *testing.T) {
		server := newTabular(t, 4)
		server.forbid = "pods" // which are not asked for
		none := func([]api.JobSummary) []api.JobSummary { return nil }
		if got, err := pickedFrom(t, server).Pick(t.Context(), none); got != nil || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// Only the first of many picked jobs are read. The others are as the table has them.
func TestPickMany(t *testing.T) {
	got, err := pickedFrom(t, newTabular(t, 1200)).Pick(t.Context(), func(all []api.JobSummary) []api.JobSummary {
		if len(all) != 1200 || all[1].Namespace != "ml" {
			t.Errorf("%d jobs, the second is %+v", len(all), all[1])
		}
		return all[600:1100]
	})
	read := slices.DeleteFunc(slices.Clone(got), func(e api.JobSummary) bool { return e.Function == "" })
	if err != nil || len(got) != 500 || len(read) != maxDescribed || got[499].State != "" || got[498].State != api.Succeeded {
		t.Errorf("%d jobs, %d read, then %+v, %v", len(got), len(read), got[498:], err)
	}
}

func TestAgeIn(t *testing.T) {
	for column, want := range map[string]time.Duration{
		"5s": 5 * time.Second, "3m20s": 200 * time.Second, "47h": 47 * time.Hour, "3d4h": 76 * time.Hour, "2y3d": 733 * 24 * time.Hour,
		"": 0, "<unknown>": 0, "<invalid>": 0,
	} {
		if got := ageIn(column); got != want {
			t.Errorf("%q: got %v, want %v", column, got, want)
		}
	}
}

func BenchmarkPick(b *testing.B) {
	c := pickedFrom(b, newTabular(b, 5000))
	b.ReportAllocs()
	for b.Loop() {
		picked, err := c.Pick(b.Context(), func(all []api.JobSummary) []api.JobSummary { return all[len(all)-50:] })
		if err != nil || len(picked) != 50 || picked[0].Function != "train" {
			b.Fatalf("%d jobs, %v", len(picked), err)
		}
	}
}
