package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// pagesOf answers requests for a list with three objects, one a page. The first requests
// get the codes; 200 stands for the next page.
func pagesOf(codes []int, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := r.URL.Query().Get("continue")
		*asked = append(*asked, "page "+token)
		if n := len(*asked); n <= len(codes) && codes[n-1] != http.StatusOK {
			fail(w, codes[n-1], reasonOf[codes[n-1]])
			return
		}
		number := 0
		_, _ = fmt.Sscan(token, &number)
		about := metav1.ListMeta{ResourceVersion: "7"}
		if number < 2 {
			about.Continue = fmt.Sprint(number + 1)
		}
		one := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: string("abc"[number])}}
		answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: about, Items: []corev1.Pod{one}})
	}
}

func TestRead(t *testing.T) {
	const ok, busy, gone, forbidden = http.StatusOK, http.StatusServiceUnavailable, http.StatusGone, http.StatusForbidden
	for name, tt := range map[string]struct {
		codes       []int
		want, asked string
		fails       bool
	}{
		"page by page":                       {nil, "a b c", "page , page 1, page 2", false},
		"a page that fails is asked again":   {[]int{ok, busy, busy}, "a b c", "page , page 1, page 1, page 1, page 2", false},
		"a list that took too long":          {[]int{ok, ok, gone}, "a b c", "page , page 1, page 2, page , page 1, page 2", false},
		"a list that can't begin":            {[]int{gone}, "", "page ", true},
		"a right that goes on the way":       {[]int{ok, forbidden}, "", "page , page 1", true},
		"one that took too long three times": {[]int{ok, gone, ok, gone, ok, gone}, "a b c", "page , page 1, page , page 1, page , page 1, page , page 1, page 2", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked, got []string
				c := clientOf(t, "ml", pagesOf(tt.codes, &asked))
				objects, version, err := c.read(t.Context(), podsOf(c))
				for _, o := range objects {
					got = append(got, o.(*corev1.Pod).Name)
				}
				if (err != nil) != tt.fails || err == nil && version != "7" {
					t.Errorf("version %q, %v", version, err)
				}
				if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
					t.Errorf("read (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(tt.asked, strings.Join(asked, ", ")); diff != "" {
					t.Errorf("asked (-want +got)\n%s", diff)
				}
			})
		})
	}
}

func TestReadKeepsWhatIsWanted(t *testing.T) {
	var asked []string
	c := clientOf(t, "ml", pagesOf(nil, &asked))
	pods := podsOf(c)
	pods.keep = func(o runtime.Object) runtime.Object {
		if o.(*corev1.Pod).Name == "b" {
			return nil
		}
		return o
	}
	objects, _, err := c.read(t.Context(), pods)
	if err != nil || len(objects) != 2 {
		t.Errorf("%d objects, %v; want two of three", len(objects), err)
	}
}

func TestEventsThatAListTakes(t *testing.T) {
	for ref, want := range map[corev1.ObjectReference]bool{
		{Kind: "Job", Name: "kinetic-a1"}:                  true,
		{Kind: "Pod", Name: "kinetic-a1-x7x7x"}:            true,
		{Kind: "Workload", Name: "job-kinetic-a1-0f0f0"}:   true,
		{Kind: "StatefulSet", Name: "keras-pathways-a1-0"}: true,
		{Kind: "Pod", Name: "web-x7x7x"}:                   false,
		{Kind: "Node", Name: "gke-main-gpu-l4-3f2c-0"}:     false,
	} {
		if got := trimmed(&corev1.Event{InvolvedObject: ref}) != nil; got != want {
			t.Errorf("an event about %s %s is taken: %v", ref.Kind, ref.Name, got)
		}
	}
}

func TestAListKeepsWhatSaysHowAMapStands(t *testing.T) {
	broken := aMap(1, failedCondition(batchv1.JobFailed, "FailedIndexes", "Job has failed indexes"))
	broken.Status.FailedIndexes, broken.Spec.Parallelism = new("0,2-3"), new(int32(2))
	whole, kept := asWorkload(broken), asWorkload(joblist.Job(broken))
	if got, want := kept.State(nil), whole.State(nil); !cmp.Equal(got, want) || got.Message != "3 of 4 chunks failed: 0,2-3" {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := kept.AtATime(nil), whole.AtATime(nil); got != want || got != 2 {
		t.Errorf("%d pods at a time, want %d", got, want)
	}
}

// Thousands of objects come in protobuf, a page after another.
func TestListOfManyJobs(t *testing.T) {
	const number = 2*joblist.PageSize + 1
	web := httptest.NewServer(newManyJobs(t, number))
	defer web.Close()
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	records, err := New(c).List(t.Context(), api.ListStates)
	if err != nil || len(records) != number {
		t.Fatalf("%d records, %v; want %d", len(records), err, number)
	}
	for _, r := range records {
		if r.Function != "train" || r.Node == "" || r.Status.State != api.Running {
			t.Fatalf("got %+v", r)
		}
	}
}
