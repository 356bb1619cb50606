package kube

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

const runnerPath = core + "configmaps/" + api.RunnerPrefix + "12"

// A ConfigMap is compared with the runner whose name it has, if it can be read.
func TestTheRunnerThatIsThere(t *testing.T) {
	for name, tt := range map[string]struct {
		change    func(map[string]any)
		forbidden bool
		want      string // in the error, "" for none
	}{
		"the same":                  {change: func(map[string]any) {}},
		"another":                   {change: func(o map[string]any) { o["data"] = map[string]any{"remote_runner.py": "evil"} }, want: "its data differs"},
		"one with more":             {change: func(o map[string]any) { o["binaryData"] = map[string]any{"x": "eA=="} }, want: "its binaryData differs"},
		"one that can be changed":   {change: func(o map[string]any) { delete(o, "immutable") }, want: "its immutable differs"},
		"one that can't be read":    {change: func(o map[string]any) { o["data"] = map[string]any{"x": "y"} }, forbidden: true},
		"one with other labels":     {change: func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"} }},
		"what to do is in an error": {change: func(o map[string]any) { o["binaryData"] = nil }, want: "kubectl delete configmap kinetic-runner-12 -n ml"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := start(t)
			there := runnerMap().Object
			tt.change(there)
			s.objects[runnerPath] = there
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if tt.forbidden && r.Method == http.MethodGet && r.URL.Path == runnerPath {
					fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
					return true
				}
				return false
			}
			err := w.Ready(t.Context())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// A quota answers for a ConfigMap that exists as for a new one. Only if it is known to be missing, the job would
// wait for it in vain.
func TestTheRunnerAndAFullQuota(t *testing.T) {
	const advice = "; ask an administrator for a larger quota"
	for name, tt := range map[string]struct {
		there     map[string]any
		forbidden bool
		says      string // "" is fullQuota
		want      string // in the error, "" for none
		warning   string
	}{
		"it exists":            {there: runnerMap().Object},
		"another has its name": {there: object("v1", "ConfigMap", "x", map[string]any{"data": map[string]any{"x": "y"}}).Object, want: "its data differs"},
		"it is missing":        {want: fullQuota + advice},
		"it can't be read":     {forbidden: true, warning: fullQuota + advice},
		"a policy refuses it":  {there: runnerMap().Object, says: aPolicy, want: aPolicy},
		"no right":             {there: runnerMap().Object, says: noRight, want: "you need the verb create on configmaps"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, told := startSet(t)
			if tt.there != nil {
				s.objects[runnerPath] = tt.there
			}
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.Method == http.MethodPost && r.URL.Path == core+"configmaps":
					failWith(w, http.StatusForbidden, metav1.StatusReasonForbidden, cmp.Or(tt.says, fullQuota))
				case tt.forbidden && r.URL.Path == runnerPath:
					failWith(w, http.StatusForbidden, metav1.StatusReasonForbidden, noRight)
				default:
					return false
				}
				return true
			}
			err := w.Start(t.Context(), a1, nil)
			if tt.want == "" && err != nil || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
			if len(*told) > 0 != (tt.warning != "") || !strings.Contains(strings.Join(*told, "\n"), tt.warning) {
				t.Errorf("told %q, want %q", *told, tt.warning)
			}
			if started := s.at(setPath) != nil; started != (err == nil) {
				t.Errorf("the job has started: %v, after %v", started, err)
			}
		})
	}
}

// A webhook may take no dry-run: then the runner is created without it.
func TestARunnerIfAWebhookTakesNoDryRun(t *testing.T) {
	s, w := start(t)
	s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("dryRun") == "" {
			return false
		}
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return true
	}
	if err := w.Start(t.Context(), a1, nil); err != nil || s.at(runnerPath) == nil {
		t.Errorf("got %v and objects %v", err, s.all())
	}
}

// A cleanup that does not see the Job yet removes the runner. Start creates it again.
func TestStartMakesARunnerAgainThatIsGone(t *testing.T) {
	s, w := start(t)
	s.objects[runnerPath] = runnerMap().Object
	s.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/jobs") {
			delete(s.objects, runnerPath)
		}
		return false
	}
	if err := w.Start(t.Context(), a1, nil); err != nil {
		t.Fatal(err)
	}
	if s.at(runnerPath) == nil || s.at(jobPath) == nil {
		t.Errorf("the runner or the Job is missing: %q", s.asked)
	}
}

func TestPrepareMakesTheRunner(t *testing.T) {
	s, w := start(t)
	if err := w.Prepare(t.Context(), a1, nil); err != nil {
		t.Fatal(err)
	}
	if s.at(runnerPath) == nil || s.at(jobPath) != nil {
		t.Errorf("want the runner without the Job: %q", s.asked)
	}
}

func configMapAt(name string, age time.Duration) metav1.PartialObjectMetadata {
	m := metav1.PartialObjectMetadata{}
	m.Name, m.UID, m.ResourceVersion = name, "uid-of-"+"x", "7"
	m.CreationTimestamp = metav1.NewTime(time.Now().Add(-age))
	return m
}

func mounting(name string) corev1.PodTemplateSpec {
	source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "scratch"}, {Name: "runner", VolumeSource: source}}}}
}

// preconditions returns the preconditions of a request to delete.
func preconditions(t *testing.T, r *http.Request) *metav1.Preconditions {
	t.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	o, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	return o.(*metav1.DeleteOptions).Preconditions
}

// Only ConfigMaps that nothing mounts are removed, and only if they were not replaced.
func TestRemoveRunners(t *testing.T) {
	const month = 30 * 24 * time.Hour
	lists := map[string]any{
		core + "configmaps": metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
			Items: []metav1.PartialObjectMetadata{
				configMapAt("kinetic-runner-old", month), configMapAt("kinetic-runner-young", 6*24*time.Hour), configMapAt("kinetic-runner-of-job", month),
				configMapAt("kinetic-runner-of-pod", month), configMapAt("kinetic-runner-of-leader", month), configMapAt("kinetic-runner-of-workers", month),
				configMapAt("kinetic-other", month), configMapAt("kinetic-runner-changed", month),
			},
		},
		"/apis/batch/v1/namespaces/ml/jobs": batchv1.JobList{
			TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"},
			Items:    []batchv1.Job{{Spec: batchv1.JobSpec{Template: mounting("kinetic-runner-of-job")}}},
		},
		core + "pods": corev1.PodList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
			Items:    []corev1.Pod{{Spec: mounting("kinetic-runner-of-pod").Spec}},
		},
		"/apis/leaderworkerset.x-k8s.io/v1/namespaces/ml/leaderworkersets": map[string]any{"items": []any{
			map[string]any{"spec": map[string]any{"leaderWorkerTemplate": map[string]any{
				"size": 2, "leaderTemplate": mounting("kinetic-runner-of-leader"), "workerTemplate": mounting("kinetic-runner-of-workers"),
			}}},
		}},
	}
	for name, tt := range map[string]struct {
		unlisted, lacking string
		want              []string // removed
	}{
		"all can be listed":         {want: []string{"kinetic-runner-old"}},
		"a cluster without sets":    {lacking: "leaderworkersets", want: []string{"kinetic-runner-of-leader", "kinetic-runner-of-workers", "kinetic-runner-old"}},
		"sets that can't be listed": {unlisted: "leaderworkersets"},
		"pods that can't be listed": {unlisted: "pods"},
		"maps that can't be listed": {unlisted: "configmaps"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				list := lists[r.URL.Path]
				switch {
				case tt.unlisted != "" && strings.HasSuffix(r.URL.Path, tt.unlisted):
					fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
				case tt.lacking != "" && strings.HasSuffix(r.URL.Path, tt.lacking):
					fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
				case r.Method == http.MethodGet:
					answerWith(w, http.StatusOK, list)
				case r.Method == http.MethodDelete:
					if p := preconditions(t, r); p == nil || *p.UID != "uid-of-x" || *p.ResourceVersion != "7" {
						t.Errorf("DELETE %s with preconditions %+v", r.URL.Path, p)
					}
					if strings.HasSuffix(r.URL.Path, "-changed") {
						fail(w, http.StatusConflict, metav1.StatusReasonConflict)
						return
					}
					answerWith(w, http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
				}
			}))
			t.Cleanup(server.Close)
			var said strings.Builder
			client, err := NewClient(&rest.Config{Host: server.URL, QPS: -1}, "ml", func(line string) { said.WriteString(line) })
			if err != nil {
				t.Fatal(err)
			}
			removed, err := New(client).RemoveRunners(t.Context())
			slices.Sort(removed)
			if err != nil || (said.Len() > 0) != (tt.unlisted != "") || !slices.Equal(removed, tt.want) {
				t.Errorf("removed %q, %v, want %q; said %q", removed, err, tt.want, &said)
			}
		})
	}
}
