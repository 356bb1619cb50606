package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Without Kueue, a job that names a queue gets a warning and runs. A job without a queue
// causes no request.
func TestAQueueWithoutKueue(t *testing.T) {
	const group = "/apis/kueue.x-k8s.io"
	serves := func(versions ...string) map[string]any {
		var all []any
		for _, v := range versions {
			all = append(all, map[string]any{"groupVersion": "kueue.x-k8s.io/" + v, "version": v})
		}
		return map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": "kueue.x-k8s.io", "versions": all}
	}
	for name, tt := range map[string]struct {
		queue string
		has   map[string]any
		fails bool
		told  string
	}{
		"no Kueue":          {queue: "mine", told: "--queue mine has no effect: Kueue is not installed in this cluster"},
		"Kueue":             {queue: "mine", has: serves("v1beta1")},
		"a newer one":       {queue: "mine", has: serves("v1beta2", "v1")},
		"one that is new":   {queue: "mine", has: serves("v1"), told: "queue mine: Kueue in this cluster serves version v1 of its API"},
		"nobody may tell":   {queue: "mine", fails: true},
		"no queue is named": {},
	} {
		for what, do := range map[string]func(*Submission) error{
			"start":   func(w *Submission) error { return w.Start(t.Context(), a1, nil) },
			"dry run": func(w *Submission) error { _, err := w.DryRun(t.Context()); return err },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				s, w, told := startSet(t)
				if tt.queue != "" {
					for _, o := range w.objects {
						if isWorkload(o) {
							o.SetLabels(map[string]string{api.LabelJobID: "a1", api.LabelQueue: tt.queue})
						}
					}
				}
				if tt.has != nil {
					s.objects[group] = tt.has
				}
				asked := 0
				s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != group {
						return false
					}
					asked++
					if tt.fails {
						fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
					}
					return tt.fails
				}
				if err := do(w); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(*told, ""); !strings.HasPrefix(got, tt.told) || got != "" && tt.told == "" {
					t.Errorf("told %q", got)
				}
				if want := len(tt.queue) / len("mine"); asked != want {
					t.Errorf("asked %d times, want %d", asked, want)
				}
			})
		}
	}
}

func TestQuotasAreLookedAtBeforeAnythingIsMade(t *testing.T) {
	quotaOf := func(hard, used string) corev1.ResourceQuota {
		q := corev1.ResourceQuota{TypeMeta: metav1.TypeMeta{Kind: "ResourceQuota", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: "ml"}}
		q.Status.Hard = corev1.ResourceList{"requests.cpu": resource.MustParse(hard)}
		q.Status.Used = corev1.ResourceList{"requests.cpu": resource.MustParse(used)}
		return q
	}
	job := theJob()
	pod := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "kinetic-worker", "resources": map[string]any{"requests": map[string]any{"cpu": "150m"}}}}}}
	job.Object["spec"] = map[string]any{"template": pod}
	tests := map[string]struct {
		quota       corev1.ResourceQuota
		code        int
		fails, says string
	}{
		"one that is too small":   {quotaOf("0", "0"), http.StatusOK, "quota team of namespace ml is too small for this job: the job requests 150m of requests.cpu, but all jobs together may have 0; request less, or ask an administrator for a larger quota (kubectl describe quota team -n ml)", ""},
		"one that is used":        {quotaOf("1", "1"), http.StatusOK, "", "quota team of namespace ml has no room for this job yet: the job requests 150m of requests.cpu, but 1 of 1 are used; the job waits until other jobs end"},
		"one that is large":       {quotaOf("9", "1"), http.StatusOK, "", ""},
		"who may not read quotas": {quotaOf("0", "0"), http.StatusForbidden, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, w, told := startSet(t)
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/resourcequotas") {
					return false
				}
				if tt.code != http.StatusOK {
					fail(w, tt.code, metav1.StatusReasonForbidden)
					return true
				}
				answerWith(w, tt.code, corev1.ResourceQuotaList{TypeMeta: metav1.TypeMeta{Kind: "ResourceQuotaList", APIVersion: "v1"}, Items: []corev1.ResourceQuota{tt.quota}})
				return true
			}
			w.objects = []*unstructured.Unstructured{runnerMap(), job}
			err := w.Ready(t.Context())
			if (err == nil) != (tt.fails == "") || err != nil && err.Error() != tt.fails {
				t.Errorf("%v, want %s", err, tt.fails)
			}
			if got := strings.Join(*told, "\n"); got != tt.says {
				t.Errorf("says %q, want %q", got, tt.says)
			}
			if _, dry := w.DryRun(t.Context()); fmt.Sprint(dry) != fmt.Sprint(err) {
				t.Errorf("a dry run: %v, want %v", dry, err)
			}
		})
	}
}

// A volume whose driver the cluster lacks ends a submit early. A job without such volumes causes
// no request.
func TestDriversOfVolumes(t *testing.T) {
	const path = "/apis/storage.k8s.io/v1/csidrivers/"
	for name, tt := range map[string]struct {
		driver      string
		code        int
		fails, says string
	}{
		"no volume":           {},
		"a driver":            {driver: "gcsfuse.csi.storage.gke.io", code: http.StatusOK},
		"no add-on":           {driver: "gcsfuse.csi.storage.gke.io", code: http.StatusNotFound, fails: "its Cloud Storage FUSE add-on is off: turn it on with gcloud container clusters update"},
		"no other driver":     {driver: "csi.example.com", code: http.StatusNotFound, fails: "this cluster has no CSI driver csi.example.com"},
		"who may not read it": {driver: "gcsfuse.csi.storage.gke.io", code: http.StatusForbidden, says: "warning: can't check that this cluster has the driver"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, told := startSet(t)
			job := theJob()
			if tt.driver != "" {
				volumes := []any{map[string]any{"name": "a", "csi": map[string]any{"driver": tt.driver}}, map[string]any{"name": "b", "csi": map[string]any{"driver": tt.driver}}}
				job.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"volumes": volumes}}}
			}
			w.objects = []*unstructured.Unstructured{runnerMap(), job}
			asked := 0
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, path) {
					return false
				}
				asked++
				if tt.code == http.StatusOK {
					answerWith(w, tt.code, map[string]any{"kind": "CSIDriver", "apiVersion": "storage.k8s.io/v1"})
					return true
				}
				fail(w, tt.code, map[int]metav1.StatusReason{http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusForbidden: metav1.StatusReasonForbidden}[tt.code])
				return true
			}
			for what, do := range map[string]func() error{
				"ready":   func() error { return w.Ready(t.Context()) },
				"dry run": func() error { _, err := w.DryRun(t.Context()); return err },
			} {
				asked, *told = 0, nil
				err := do()
				if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("%s: %v, want %q in it", what, err, tt.fails)
				}
				if got := strings.Join(*told, ""); !strings.HasPrefix(got, tt.says) || got != "" && tt.says == "" {
					t.Errorf("%s: told %q, want %q", what, got, tt.says)
				}
				if want := min(len(tt.driver), 1); asked != want {
					t.Errorf("%s: asked %d times, want %d", what, asked, want)
				}
			}
		})
	}
}

// A claim that a flag names is looked up before anything is sent.
func TestClaimsOfFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		code        int
		fails, says string
	}{
		"there is none":   {http.StatusNotFound, "--data images=pvc://datasets: there is no PersistentVolumeClaim datasets in namespace ml: kubectl get pvc -n ml lists them", ""},
		"it may be there": {http.StatusForbidden, "", "warning: can't check that namespace ml has the PersistentVolumeClaim datasets before the job starts: no permission to read PersistentVolumeClaims"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, told := startSet(t)
			s.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
				fail(w, tt.code, map[int]metav1.StatusReason{http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusForbidden: metav1.StatusReasonForbidden}[tt.code])
				return true
			}
			input := api.Data{Name: "images", Source: "pvc://datasets", Access: api.AccessClaim, Claim: "datasets"}
			err := w.CheckVolumes(t.Context(), api.Spec{Data: []api.Data{input}})
			if (err == nil) != (tt.fails == "") || err != nil && (err.Error() != tt.fails || !isUsage(err)) {
				t.Errorf("%v, want %s", err, tt.fails)
			}
			if got := strings.Join(*told, ""); got != tt.says {
				t.Errorf("told %q, want %q", got, tt.says)
			}
		})
	}
}
