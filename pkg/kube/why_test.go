package kube

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recorded reads a situation in the shape clusters give. A field that the API
// doesn't have is an error.
func recorded(t testing.TB, path string) situation {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Now    metav1.Time                   `json:"now"`
		Job    *batchv1.Job                  `json:"job"`
		Set    *metav1.PartialObjectMetadata `json:"set"`
		Pods   []corev1.Pod                  `json:"pods"`
		Events []corev1.Event                `json:"events"`
		Turns  []turn                        `json:"turns"`
	}
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return situation{Job: file.Job, Set: file.Set, Pods: file.Pods, Events: file.Events, Turns: file.Turns, Now: file.Now.UTC()}
}

func recordings(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/why/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no situations: %v", err)
	}
	return paths
}

// One golden file holds what is said of every recorded situation, so that a
// change of words is read as a whole.
func TestWhyOfRecordedSituations(t *testing.T) {
	var got strings.Builder
	for _, path := range recordings(t) {
		r := why(recorded(t, path))
		fmt.Fprintf(&got, "%s:\n", strings.TrimSuffix(filepath.Base(path), ".yaml"))
		if r == (cause{}) {
			fmt.Fprintln(&got, "  nothing to say")
			continue
		}
		fmt.Fprintf(&got, "  %s\n  $ %s\n", r.Sentence, r.Next)
		if r.Hopeless {
			fmt.Fprintln(&got, "  hopeless")
		}
	}
	const golden = "testdata/why/golden.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhyOfNothing(t *testing.T) {
	for name, s := range map[string]situation{
		"no job":              {},
		"a job without a pod": {Job: &batchv1.Job{}},
		"a pod that is made":  {Job: &batchv1.Job{}, Pods: []corev1.Pod{{}}},
	} {
		if r := why(s); r != (cause{}) {
			t.Errorf("%s: %+v, want nothing", name, r)
		}
	}
}

// The API promises no order of anything that is looked at here.
func TestWhyDoesNotDependOnOrder(t *testing.T) {
	for _, path := range recordings(t) {
		s := recorded(t, path)
		want := why(s)
		slices.Reverse(s.Pods)
		slices.Reverse(s.Events)
		slices.Reverse(s.Turns)
		if s.Job != nil {
			slices.Reverse(s.Job.Status.Conditions)
		}
		for _, t := range s.Turns {
			slices.Reverse(t.Status.Conditions)
		}
		for _, p := range s.Pods {
			slices.Reverse(p.Status.Conditions)
			slices.Reverse(p.Status.ContainerStatuses)
			slices.Reverse(p.Status.InitContainerStatuses)
		}
		if got := why(s); got != want {
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
		if r := why(s); r != (cause{}) {
			t.Errorf("events of %s: %+v, want nothing", what, r)
		}
	}
}

// What was said before the newest pod was made was about an older one.
func TestWhyForgetsWhatIsOver(t *testing.T) {
	s := recorded(t, "testdata/why/service-account-missing.yaml")
	pending := recorded(t, "testdata/why/no-node-matches.yaml")
	s.Pods = pending.Pods
	if got, want := why(s), why(pending); got != want {
		t.Errorf("with a pod made: %+v, want %+v", got, want)
	}
	gone := recorded(t, "testdata/why/spot-taken-back-between-pods.yaml")
	gone.Events = append(gone.Events, s.Events...)
	if got := why(gone).Sentence; !strings.HasPrefix(got, "service account kinetic is missing") {
		t.Errorf("the next pod can't be made: %q", got)
	}
	gone.Pods[0].CreationTimestamp = metav1.NewTime(gone.Now)
	if got := why(gone).Sentence; strings.Contains(got, "service account") {
		t.Errorf("the pod was made since: %q", got)
	}
}

// A duration that grows with every event about the image would be news each time.
func TestWhyTellsOnlyOfALongPullHowLongItTakes(t *testing.T) {
	s := recorded(t, "testdata/why/image-being-pulled.yaml")
	began := s.newestOf(s.Pods[0], "Pulling")
	s.Now = eventTime(began).Add(longPull - time.Second)
	first := why(s).Sentence
	s.Now = eventTime(began)
	if second := why(s).Sentence; first != second || !strings.HasPrefix(first, "pulling image ") {
		t.Errorf("%q, then %q", first, second)
	}
}

// FuzzWhy puts a text wherever a situation has one from elsewhere.
func FuzzWhy(f *testing.F) {
	var all []situation
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
		if s.Job != nil {
			for i := range s.Job.Status.Conditions {
				s.Job.Status.Conditions[i].Message = text
			}
		}
		for _, turn := range s.Turns {
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
		r := why(s)
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

func copied(s situation) situation {
	s.Job, s.Pods, s.Events, s.Turns = s.Job.DeepCopy(), slices.Clone(s.Pods), slices.Clone(s.Events), slices.Clone(s.Turns)
	for i := range s.Turns {
		s.Turns[i] = *s.Turns[i].DeepCopyObject().(*turn)
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
