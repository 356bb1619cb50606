package kube

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

func TestTheRequestForThePartsLog(t *testing.T) {
	for _, tt := range []struct {
		part string
		o    logs.Options
		pod  string
		want url.Values
	}{
		{"rm", logs.Options{Tail: -1}, "0", url.Values{"container": {"pathways-rm"}}},
		{"worker-1", logs.Options{Tail: 5}, "0-2", url.Values{"container": {"pathways-worker"}, "tailLines": {"5"}}},
		{"proxy", logs.Options{Tail: 0}, "0", url.Values{"container": {"pathways-proxy"}, "tailLines": {"0"}}},
	} {
		var got url.Values
		c := clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.Query()
			_, _ = io.WriteString(w, r.URL.Path)
		})
		var b strings.Builder
		h := handleOf("a1")
		err := New(c).PartLog(t.Context(), h, tt.part, tt.o, &b)
		if want := "/api/v1/namespaces/ml/pods/" + h.K8sName + "-" + tt.pod + "/log"; b.String() != want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", tt.part, b.String(), err, want)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.part, diff)
		}
	}
}

// talking is a cluster with one pod, in which the proxy of the Pathways runtime prints another line whenever its log is
// followed. It ends after the last line.
type talking struct {
	*oneJob
	lines []string
	// breaks is whether a log that is followed ends within a line, rather than between two.
	breaks bool
	mu     sync.Mutex
	said   int
}

func (s *talking) proxy(state corev1.ContainerState) corev1.Pod {
	p := theirPod(running(1))
	p.Name = "kinetic-a1-0"
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "pathways-proxy", ContainerID: "containerd://1", State: state}}
	return p
}

func (s *talking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch query := r.URL.Query(); {
	case path.Base(r.URL.Path) == "log":
		s.log(w, query)
	case path.Base(r.URL.Path) == "pods" && query.Get("watch") == "":
		answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{s.proxy(running(1))}})
	default:
		s.oneJob.ServeHTTP(w, r)
	}
}

func (s *talking) log(w http.ResponseWriter, query url.Values) {
	s.mu.Lock()
	defer s.mu.Unlock()
	follow := query.Get("follow") != ""
	if follow && s.said < len(s.lines) {
		s.said++
	}
	var text string
	for i, line := range s.lines[:s.said] {
		if stamped := fmt.Sprintf("2026-01-01T00:00:%02dZ", i); stamped >= query.Get("sinceTime") {
			text += stamped + " " + line + "\n"
		}
	}
	if s.breaks && follow {
		text = text[:len(text)-len("\n")]
	}
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
	if follow && s.said == len(s.lines) {
		go func() { s.pods <- s.proxy(terminated(0, "Completed", "")) }()
	}
	if s.breaks && follow {
		panic(http.ErrAbortHandler)
	}
}

// A log that is followed goes on after its connection has ended, or broken, until the container has ended.
func TestAPartIsFollowedUntilItEnds(t *testing.T) {
	for _, breaks := range []bool{false, true} {
		s := &talking{lines: []string{"one", "two", "three", "four"}, breaks: breaks, said: 1,
			oneJob: &oneJob{pods: make(chan corev1.Pod, 100), begun: make(chan string, 100), ended: make(chan string, 100), lists: map[string]int{}}}
		web := httptest.NewServer(s)
		t.Cleanup(web.Close)
		c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
		if err != nil {
			t.Fatal(err)
		}
		h := handleOf("a1")
		h.K8sName = "kinetic-a1"
		var b strings.Builder
		if err := New(c).PartLog(t.Context(), h, "proxy", logs.Options{Tail: -1, Follow: true}, &b); err != nil || b.String() != "one\ntwo\nthree\nfour\n" {
			t.Errorf("breaks: %v: got %q, %v", breaks, b.String(), err)
		}
		if err := New(c).PartLog(t.Context(), h, "worker-0", logs.Options{Tail: -1, Follow: true}, &b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a container that is not there: %v", err)
		}
	}
}

// A container that has crashed and waits to be started again still has the log of its last run.
func TestAPartThatWaitsForItsNextStart(t *testing.T) {
	c := clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "log" {
			_, _ = io.WriteString(w, "crashed\n")
			return
		}
		p := theirPod(running(1))
		p.Name = "kinetic-a1-0"
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "pathways-rm",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, LastTerminationState: terminated(1, "Error", "")}}
		answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{p}})
	})
	h := handleOf("a1")
	h.K8sName = "kinetic-a1"
	var b strings.Builder
	if err := New(c).PartLog(t.Context(), h, "rm", logs.Options{Tail: -1, Follow: true}, &b); err != nil || b.String() != "crashed\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
