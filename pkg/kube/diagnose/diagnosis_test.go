package diagnose

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// recorded reads an Observation of objects as clusters have them. A field that the API
// doesn't have is an error.
func recorded(t testing.TB, path string) Observation {
	t.Helper()
	var file struct {
		Now            metav1.Time                   `json:"now"`
		Job            *batchv1.Job                  `json:"job"`
		LWS            *metav1.PartialObjectMetadata `json:"lws"`
		Pods           []corev1.Pod                  `json:"pods"`
		Events         []corev1.Event                `json:"events"`
		KueueWorkloads []kueue.Workload              `json:"kueueWorkloads"`
	}
	whole := patched(t, readYAML(t, path), readYAML(t, "testdata/objects.yaml"))
	if err := yaml.UnmarshalStrict(mustJSON(t, whole), &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	w := workloadOf(file.LWS)
	if file.Job != nil {
		w = workloadOf(file.Job)
	}
	for i := range file.Events { // each has a name of its own, as in a cluster
		file.Events[i].Name = fmt.Sprintf("%s.%02d", file.Events[i].InvolvedObject.Name, i)
	}
	return Observation{Workload: w, Pods: file.Pods, Events: file.Events, KueueWorkloads: file.KueueWorkloads, Now: file.Now.UTC()}
}

// patched returns value with each object in it that has the field like made whole: it is a merge patch on the object
// of this name.
func patched(t testing.TB, value any, objects map[string]any) any {
	t.Helper()
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = patched(t, v[i], objects)
		}
	case map[string]any:
		name, ok := v["like"].(string)
		if !ok {
			for key := range v {
				v[key] = patched(t, v[key], objects)
			}
			return v
		}
		base, found := objects[name]
		if !found {
			t.Fatalf("testdata/objects.yaml has no %s", name)
		}
		merged, err := jsonpatch.MergePatch(mustJSON(t, patched(t, base, objects)), mustJSON(t, v))
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := yaml.Unmarshal(merged, &object); err != nil {
			t.Fatal(err)
		}
		delete(object, "like")
		return object
	}
	return value
}

func readYAML(t testing.TB, path string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := yaml.Unmarshal(data, &value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return value
}

func mustJSON(t testing.TB, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// workloadOf is the workload that an object is, which may be nil.
func workloadOf(o runtime.Object) Workload {
	switch o := o.(type) {
	case *batchv1.Job:
		if o != nil {
			return NewWorkload(Job, o)
		}
	case *metav1.PartialObjectMetadata:
		if o != nil {
			return NewWorkload(LeaderWorkerSet, o)
		}
	}
	return Workload{}
}

func recordings(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/why/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no observations: %v", err)
	}
	return paths
}

// One golden file holds what is said of every recorded Observation, so that a
// change of words is read as a whole.
func TestWhyOfRecordedSituations(t *testing.T) {
	var got strings.Builder
	for _, path := range recordings(t) {
		r := recorded(t, path).Explain()
		fmt.Fprintf(&got, "%s:\n", strings.TrimSuffix(filepath.Base(path), ".yaml"))
		if r == (Diagnosis{}) {
			fmt.Fprintln(&got, "  nothing to say")
			continue
		}
		fmt.Fprintf(&got, "  %s\n  $ %s\n", r.Sentence, r.Next)
		if r.Unrecoverable {
			fmt.Fprintln(&got, "  unrecoverable")
		}
		if r.ImageLost {
			fmt.Fprintln(&got, "  the image is lost")
		}
	}
	golden.Check(t, "testdata/why/golden.txt", got.String())
}

func TestWhyOfNothing(t *testing.T) {
	for name, s := range map[string]Observation{
		"no job":              {},
		"a job without a pod": {Workload: workloadOf(&batchv1.Job{})},
		"a pod that is made":  {Workload: workloadOf(&batchv1.Job{}), Pods: []corev1.Pod{{}}},
	} {
		if r := s.Explain(); r != (Diagnosis{}) {
			t.Errorf("%s: %+v, want nothing", name, r)
		}
	}
}

// The API promises no order of anything that is looked at here.
func TestWhyDoesNotDependOnOrder(t *testing.T) {
	for _, path := range recordings(t) {
		s := recorded(t, path)
		want := s.Explain()
		slices.Reverse(s.Pods)
		slices.Reverse(s.Events)
		slices.Reverse(s.KueueWorkloads)
		if s.Workload.job != nil {
			slices.Reverse(s.Workload.job.Status.Conditions)
		}
		for _, t := range s.KueueWorkloads {
			slices.Reverse(t.Status.Conditions)
		}
		for _, p := range s.Pods {
			slices.Reverse(p.Status.Conditions)
			slices.Reverse(p.Status.ContainerStatuses)
			slices.Reverse(p.Status.InitContainerStatuses)
		}
		if got := s.Explain(); got != want {
			t.Errorf("%s backwards: %+v, want %+v", path, got, want)
		}
	}
}

// Names come back: of a job of yesterday, and the API server keeps events.
func TestWhyPassesOverEventsOfOthers(t *testing.T) {
	strangers := map[string]func(*corev1.ObjectReference){
		"another name":      func(o *corev1.ObjectReference) { o.Name = "x" + o.Name },
		"another kind":      func(o *corev1.ObjectReference) { o.Kind = "Node" },
		"an older namesake": func(o *corev1.ObjectReference) { o.UID = "1" },
	}
	for what, strange := range strangers {
		s := recorded(t, "testdata/why/service-account-missing.yaml")
		for i := range s.Events {
			strange(&s.Events[i].InvolvedObject)
		}
		if r := s.Explain(); r != (Diagnosis{}) {
			t.Errorf("events of %s: %+v, want nothing", what, r)
		}
	}
}

// What was said before the newest pod was made was about an older one.
func TestWhyForgetsWhatIsOver(t *testing.T) {
	s := recorded(t, "testdata/why/service-account-missing.yaml")
	pending := recorded(t, "testdata/why/no-node-matches.yaml")
	s.Pods = pending.Pods
	if got, want := s.Explain(), pending.Explain(); got != want {
		t.Errorf("with a pod made: %+v, want %+v", got, want)
	}
	gone := recorded(t, "testdata/why/spot-taken-back-between-pods.yaml")
	gone.Events = append(gone.Events, s.Events...)
	if got := gone.Explain().Sentence; !strings.HasPrefix(got, "service account kinetic is missing") {
		t.Errorf("the next pod can't be made: %q", got)
	}
	gone.Pods[0].CreationTimestamp = metav1.NewTime(gone.Now)
	if got := gone.Explain().Sentence; strings.Contains(got, "service account") {
		t.Errorf("the pod was made since: %q", got)
	}
}

// A duration that grows with every event about the image would be news each time.
func TestWhyTellsOnlyOfALongPullHowLongItTakes(t *testing.T) {
	s := recorded(t, "testdata/why/image-being-pulled.yaml")
	began := s.newestOf(s.Pods[0], "Pulling")
	s.Now = eventTime(began).Add(longPull - time.Second)
	first := s.Explain().Sentence
	s.Now = eventTime(began)
	if second := s.Explain().Sentence; first != second || !strings.HasPrefix(first, "pulling image ") {
		t.Errorf("%q, then %q", first, second)
	}
}

// FuzzWhy puts a text wherever a Observation has one from elsewhere.
func FuzzWhy(f *testing.F) {
	var all []Observation
	for i, path := range recordings(f) {
		all = append(all, recorded(f, path))
		for _, e := range all[i].Events {
			f.Add(i, e.Reason, e.Message)
		}
	}
	f.Add(0, "FailedScheduling", "0/5 nodes are available: 99999999999999999999 Insufficient \x1b[31m\u202ecpu")
	f.Fuzz(func(t *testing.T, i int, reason, text string) {
		s := copied(all[uint(i)%uint(len(all))])
		s.Events = append(s.Events, s.Events...)
		for i := range s.Events {
			s.Events[i].Message = text
			if i%2 == 0 {
				s.Events[i].Reason = reason
				s.Events[i].LastTimestamp = metav1.NewTime(s.Now.Add(time.Hour))
			}
		}
		if s.Workload.job != nil {
			for i := range s.Workload.job.Status.Conditions {
				s.Workload.job.Status.Conditions[i].Message = text
			}
		}
		for _, turn := range s.KueueWorkloads {
			for i := range turn.Status.Conditions {
				turn.Status.Conditions[i].Message = text
			}
			for i := range turn.Status.AdmissionChecks {
				turn.Status.AdmissionChecks[i].Message, turn.Status.AdmissionChecks[i].State = text, reason
			}
		}
		for i := range s.Pods {
			strange(&s.Pods[i], reason, text)
		}
		r := s.Explain()
		for _, line := range []string{r.Sentence, r.Next} {
			if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(line) {
				t.Errorf("%q has what doesn't print", line)
			}
		}
		if n := utf8.RuneCountInString(r.Sentence); n > sentenceLimit {
			t.Errorf("%d characters: %s", n, r.Sentence)
		}
	})
}

func copied(s Observation) Observation {
	if s.Workload.job != nil {
		s.Workload = workloadOf(s.Workload.job.DeepCopy())
	}
	s.Pods, s.Events, s.KueueWorkloads = slices.Clone(s.Pods), slices.Clone(s.Events), slices.Clone(s.KueueWorkloads)
	for i := range s.KueueWorkloads {
		s.KueueWorkloads[i] = *s.KueueWorkloads[i].DeepCopyObject().(*kueue.Workload)
	}
	for i := range s.Pods {
		s.Pods[i] = *s.Pods[i].DeepCopy()
	}
	return s
}

// strange gives a pod and its containers another text, and now and then another
// reason.
func strange(p *corev1.Pod, reason, text string) {
	p.Status.Message = text
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].Message = text
	}
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			if w := list[i].State.Waiting; w != nil {
				w.Message = text
				if len(text)%2 == 0 {
					w.Reason = reason
				}
			}
			if t := list[i].State.Terminated; t != nil {
				t.Message = text
			}
		}
	}
}
