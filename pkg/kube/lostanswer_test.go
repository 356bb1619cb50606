package kube

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// If the answer to a creation was lost, the content of the job's own object is not
// compared.
func TestStartFindsItsOwnObjectAfterALostAnswer(t *testing.T) {
	s, w := start(t, textOf("hush"))
	s.losing(core+"secrets", 1)
	if err := w.Start(t.Context(), a1, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.ownersOf(core + "secrets/token"); !slices.Equal(got, []string{"uid-of-kinetic-a1"}) {
		t.Errorf("the Secret has owners %q", got)
	}
	if slices.ContainsFunc(s.asked, func(r string) bool { return strings.HasPrefix(r, "PATCH ") }) {
		t.Errorf("asked %q", s.asked)
	}
}

func TestStartFindsItsOwnJobAfterALostAnswer(t *testing.T) {
	s, w := start(t)
	s.lose(1)
	if err := w.Start(t.Context(), a1, map[string]string{"TOKEN": "hush"}); err != nil {
		t.Fatal(err)
	}
	if got := s.ownersOf(core + "secrets/kinetic-a1-env"); !slices.Contains(got, "uid-of-kinetic-a1") {
		t.Errorf("the Secret has owners %q", got)
	}
}

// A webhook may change the arguments of what was created.
func TestStartFindsItsOwnJobThatAWebhookChanged(t *testing.T) {
	s, w := start(t)
	s.lose(1)
	losing := s.refuse
	s.refuse = func(rw http.ResponseWriter, r *http.Request) bool {
		lost := losing(rw, r)
		if made := s.objects[jobPath]; lost {
			theirs, _, _ := unstructured.NestedSlice(theJob("--call", "1", "--theirs").Object, "spec", "template", "spec", "containers")
			_ = unstructured.SetNestedSlice(made, theirs, "spec", "template", "spec", "containers")
		}
		return lost
	}
	if err := w.Start(t.Context(), a1, nil); err != nil {
		t.Error(err)
	}
}

// Somebody else may submit the same call while an answer is lost.
func TestStartLeavesTheSameJobOfAnotherSubmit(t *testing.T) {
	s, w := start(t)
	theirs := theJob("--call", "1")
	theirs.SetAnnotations(map[string]string{api.AnnotationSubmit: "theirs"})
	s.objects[jobPath] = theirs.Object
	s.lose(1)
	err := w.Start(t.Context(), a1, nil)
	if !errors.Is(err, fs.ErrExist) || !errors.Is(err, api.ErrMayRun) || s.at(jobPath) == nil {
		t.Errorf("got %v, the Job is there: %v", err, s.at(jobPath) != nil)
	}
}

// The Job was created, even if the answer can't be read.
func TestStartWhoseAnswerCanNotBeRead(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter)
		times  int
		then   int // code of what follows
		starts bool
	}{
		"it is cut":                           {cutShort, 1, 0, true},
		"it is no object":                     {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") }, 1, 0, false},
		"it is cut, and then access is taken": {cutShort, 1, http.StatusForbidden, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := start(t)
			posts := 0
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost || r.URL.Path != path.Dir(jobPath) {
					return false
				}
				switch posts++; {
				case posts <= tt.times:
					s.post(httptest.NewRecorder(), r)
					tt.answer(w)
				case tt.then != 0:
					fail(w, tt.then, metav1.StatusReasonForbidden)
				default:
					return false
				}
				return true
			}
			err := w.Start(t.Context(), a1, nil)
			if (err == nil) != tt.starts || errors.Is(err, api.ErrMayRun) {
				t.Errorf("got %v", err)
			}
			if there := s.at(jobPath) != nil; there != tt.starts {
				t.Errorf("the Job is there: %v", there)
			}
		})
	}
}

// cutShort is an answer whose connection breaks.
func cutShort(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, "{")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// A Job that can't be read may be the one whose creation was not answered.
func TestStartOfAJobThatCanNotBeLookedAt(t *testing.T) {
	for name, tt := range map[string]struct {
		lost, unread int // answers to creations and readings of the Job
		final        bool
		mayRun       bool
	}{
		"read in the end":        {1, 1, false, false},
		"never read":             {1, 1, true, true},
		"never read, nor made":   {0, 1, true, false},
		"read at the first time": {1, 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := start(t)
			if tt.lost == 0 {
				s.objects[jobPath] = theJob("--call", "2").Object
			}
			s.lose(tt.lost)
			losing := s.refuse
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet || r.URL.Path != jobPath || tt.unread == 0 {
					return losing(w, r)
				}
				if tt.final {
					fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
					return true
				}
				tt.unread--
				fail(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
				return true
			}
			err := w.Start(t.Context(), a1, nil)
			if failed := tt.final; (err != nil) != failed || errors.Is(err, api.ErrMayRun) != tt.mayRun {
				t.Errorf("got %v", err)
			}
			if taken := errors.Is(err, fs.ErrExist); taken != (tt.lost == 0) {
				t.Errorf("the name is taken: %v, by %v", taken, err)
			}
			if s.at(jobPath) == nil {
				t.Error("the Job was removed")
			}
		})
	}
}
