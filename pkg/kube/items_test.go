package kube

import (
	"bytes"
	"net/http/httptest"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Thousands of objects come in protobuf, a page after another.
func TestListOfManyJobs(t *testing.T) {
	const number = 2*pageSize + 1
	web := httptest.NewServer(newManyJobs(t, number))
	defer web.Close()
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	records, err := New(c).List(t.Context(), api.TellStates)
	if err != nil || len(records) != number {
		t.Fatalf("%d records, %v; want %d", len(records), err, number)
	}
	for _, r := range records {
		if r.Function != "train" || r.Node == "" || r.Status.State != api.Running {
			t.Fatalf("got %+v", r)
		}
	}
}

// A list that is cut anywhere is an error, never a shorter list.
func TestReadListThatIsCut(t *testing.T) {
	page := newManyJobs(t, 2)["jobs"][0]
	read := func(data []byte) (names []string, version string, err error) {
		about, err := readList(bytes.NewReader(data), nil, &batchv1.JobList{}, wholeItems, func(o runtime.Object) { names = append(names, o.(*batchv1.Job).Name) })
		if err == nil {
			version = about.GetResourceVersion()
		}
		return names, version, err
	}
	names, version, err := read(page)
	if want := []string{"kinetic-many-0", "kinetic-many-1"}; err != nil || !slices.Equal(names, want) || version != "7" {
		t.Fatalf("got %v at %q, %v", names, version, err)
	}
	whole := len(page)
	for n := len(protobufMark) + 2; n < whole; n++ {
		names, _, err := read(page[:n])
		// What comes after the items says nothing.
		if err == nil && len(names) < 2 || err != nil && !transient(err) {
			t.Fatalf("of %d bytes of %d it read %v, %v; want an error that passes", n, whole, names, err)
		}
	}
}

// What a list doesn't show is not read, but the template of a job of the Python package.
func TestSlimItems(t *testing.T) {
	ours, pod := jobAndPod("many-0")
	python := *ours.DeepCopy()
	delete(python.Annotations, api.AnnotationStore)
	for name, tt := range map[string]struct {
		object, into interface {
			unmarshaler
			Marshal() ([]byte, error)
		}
		want func(into runtime.Object) bool
	}{
		"ours": {&ours, &batchv1.Job{}, func(o runtime.Object) bool {
			j := o.(*batchv1.Job)
			return len(j.Spec.Template.Spec.Containers) == 0 && j.Name == ours.Name && *j.Spec.Completions == 1
		}},
		"of the Python tool": {&python, &batchv1.Job{}, func(o runtime.Object) bool {
			return len(o.(*batchv1.Job).Spec.Template.Spec.Containers) == 1
		}},
		"a pod": {&pod, &corev1.Pod{}, func(o runtime.Object) bool {
			p := o.(*corev1.Pod)
			return len(p.Spec.Containers) == 1 && p.Status.Phase == corev1.PodRunning
		}},
	} {
		data, err := tt.object.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.into.Unmarshal(slim(tt.into, data)); err != nil {
			t.Fatal(err)
		}
		about, err := meta.Accessor(tt.into)
		if err != nil || len(about.GetManagedFields()) > 0 || len(about.GetLabels()) == 0 || !tt.want(tt.into) {
			t.Errorf("%s: %v, %+v", name, err, tt.into)
		}
	}
	if torn := []byte{0x0a, 0xff}; !bytes.Equal(without(torn, 1, 17), torn) {
		t.Error("a torn message was changed")
	}
}
