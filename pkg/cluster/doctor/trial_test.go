package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"
)

// trialCluster is a namespace with one Job, whose pod is as pods says.
type trialCluster struct {
	pods, events string
	// create is the refusal of the Job, "" for none.
	create string
	// looked is called when someone has listed the pods.
	looked func()
	// broken has the list of pods fail.
	broken bool

	mu      sync.Mutex
	made    *batchv1.Job
	deleted []string
}

func (c *trialCluster) start(t *testing.T) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		const jobs, core = "/apis/batch/v1/namespaces/ml/jobs", "/api/v1/namespaces/ml/"
		switch {
		case r.Method == http.MethodPost && r.URL.Path == jobs:
			c.made = &batchv1.Job{}
			if err := json.NewDecoder(r.Body).Decode(c.made); err != nil {
				t.Errorf("the Job: %v", err)
			}
			var refused struct{ Code int }
			if err := json.Unmarshal([]byte(c.create), &refused); err == nil {
				w.WriteHeader(refused.Code)
			}
			_, _ = io.WriteString(w, cmp.Or(c.create, `{}`))
		case r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, jobs+"/"):
			c.deleted = append(c.deleted, strings.TrimPrefix(r.URL.Path, jobs+"/"))
			_, _ = io.WriteString(w, `{}`)
		case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, jobs+"/"):
			_, _ = io.WriteString(w, `{"metadata":{"name":"`+strings.TrimPrefix(r.URL.Path, jobs+"/")+`","uid":"u"}}`)
		case r.URL.Path == core+"pods":
			if c.looked != nil {
				c.looked()
			}
			if c.broken {
				http.Error(w, "etcdserver: no leader", http.StatusInternalServerError)
				return
			}
			_, _ = io.WriteString(w, `{"items":[`+strings.ReplaceAll(c.pods, "NAME", c.made.Name)+`]}`)
		case r.URL.Path == core+"events":
			_, _ = io.WriteString(w, `{"items":[`+strings.ReplaceAll(c.events, "NAME", c.made.Name)+`]}`)
		default:
			t.Errorf("an unexpected %s %s", r.Method, r.URL.Path)
		}
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL, QPS: -1}
}

func trialOptions(config *rest.Config) TrialOptions {
	return TrialOptions{Config: config, Namespace: "ml", Store: "gs://acme/team", ServiceAccount: "kinetic", Image: "python:3.12", Interval: time.Millisecond, Now: time.Now,
		Env: map[string]string{"STORAGE_EMULATOR_HOST": "http://gcs"}, Tell: func(string) {}}
}

// ended is a pod whose container has ended with a message.
func ended(code, message string) string {
	text, _ := json.Marshal(message)
	return `{"metadata":{"name":"NAME-x","namespace":"ml"},"status":{"containerStatuses":[{"name":"kinetic-worker","state":{"terminated":{"exitCode":` + code + `,"reason":"Error","message":` + string(text) + `}}}]}}`
}

func TestRunTrial(t *testing.T) {
	const badImage = `{"metadata":{"name":"NAME-x","namespace":"ml"},"spec":{"nodeName":"n","containers":[{"name":"kinetic-worker","image":"a b"}]},
 "status":{"phase":"Pending","containerStatuses":[{"name":"kinetic-worker","state":{"waiting":{"reason":"InvalidImageName","message":"couldn't parse"}}}]}}`
	for name, tt := range map[string]struct {
		cluster *trialCluster
		state   State
		detail  string
	}{
		"the bucket can be used": {&trialCluster{pods: ended("0", `{"ok":true,"account":"jobs@acme"}`)}, OK, "a pod has written, read and deleted an object as jobs@acme"},
		"it can't": {&trialCluster{pods: ended("0", `{"ok":false,"account":"jobs@acme","step":"writing gs://acme/a","why":"403 no"}`)}, Wrong,
			"in the pod as jobs@acme, writing gs://acme/a failed: 403 no"},
		"no Python in the image":       {&trialCluster{pods: ended("127", "")}, Wrong, "the pod has ended with exit code 127: Error"},
		"an image that can't be right": {&trialCluster{pods: badImage}, Wrong, "the pod can't run: "},
		"the answer to its creation was lost": {&trialCluster{pods: ended("0", `{"ok":true}`), create: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409}`},
			OK, "a pod has written, read and deleted an object"},
		"no right to create it": {&trialCluster{create: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"jobs.batch is forbidden: User \"bob\" cannot create resource \"jobs\" in API group \"batch\" in the namespace \"ml\""}`},
			Wrong, "forbidden to bob: you need the verb create on jobs there"},
	} {
		t.Run(name, func(t *testing.T) {
			got := RunTrial(t.Context(), trialOptions(tt.cluster.start(t)))
			if got.State != tt.state || !strings.Contains(got.Detail, tt.detail) {
				t.Errorf("got %s %q", got.State, got.Detail)
			}
			if strings.Contains(got.Fix, "kinetic-doctor-") {
				t.Errorf("the fix is for the pod, which is removed: %s", got.Fix)
			}
			if made := tt.cluster.made; len(tt.cluster.deleted) != 1 || made != nil && tt.cluster.deleted[0] != made.Name {
				t.Errorf("deleted %q", tt.cluster.deleted)
			}
		})
	}
}

// The pod is removed after Ctrl-C, too.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	c := trialCluster{looked: interrupt}
	if got := RunTrial(ctx, trialOptions(c.start(t))); got.State != Skipped || got.Detail != "interrupted" {
		t.Errorf("got %v", got)
	}
	if len(c.deleted) != 1 {
		t.Errorf("deleted %q", c.deleted)
	}
}

// timeUp is a context whose time is up once it is told so.
type timeUp struct {
	context.Context
	done chan struct{}
}

func (c timeUp) Done() <-chan struct{} { return c.done }

func (c timeUp) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// What a pod waits for is shown while it waits, and when its time is up. It is removed then, too.
func TestHangs(t *testing.T) {
	pod := func(node, status string) string {
		return `{"metadata":{"name":"NAME-x","namespace":"ml","uid":"p"},"spec":{"nodeName":"` + node + `","containers":[{"name":"kinetic-worker","image":"python:3.12"}]},"status":{"phase":"Pending",` + status + `}}`
	}
	const creating = `"containerStatuses":[{"name":"kinetic-worker","state":{"waiting":{"reason":"ContainerCreating"}}}]`
	for name, tt := range map[string]struct {
		cluster *trialCluster
		why     string
		told    bool
	}{
		"no node has room": {&trialCluster{pods: pod("", `"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/2 nodes are available: 2 Insufficient cpu."}]`)}, "no node has room: ", true},
		"an image that no one may pull": {&trialCluster{pods: pod("n", `"containerStatuses":[{"name":"kinetic-worker","image":"python:3.12","state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image"}}}]`)},
			"image python:3.12 ", true},
		"a large image": {&trialCluster{pods: pod("n", creating), events: `{"reason":"Pulling","lastTimestamp":"2026-01-02T03:04:05Z","message":"Pulling image \"python:3.12\"","involvedObject":{"kind":"Pod","name":"NAME-x","uid":"p"}}`},
			"pulling image python:3.12", true},
		"no node yet":      {&trialCluster{pods: pod("", `"conditions":[]`)}, "no node has been chosen for it", false},
		"a slow node":      {&trialCluster{pods: pod("n", creating)}, "its container has not started: ContainerCreating", false},
		"a program":        {&trialCluster{pods: pod("n", `"containerStatuses":[{"name":"kinetic-worker","state":{"running":{}}}]`)}, "its container runs", false},
		"no pod":           {&trialCluster{}, "its Job has created no pod", false},
		"it can't be read": {&trialCluster{broken: true}, "etcdserver: no leader", false},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Date(2026, 1, 2, 3, 6, 0, 0, time.UTC)
			ctx, looks := timeUp{t.Context(), make(chan struct{})}, 0
			tt.cluster.looked = func() {
				if looks++; looks == 3 {
					close(ctx.done)
				}
			}
			var told []string
			o := trialOptions(tt.cluster.start(t))
			o.Tell = func(why string) { told = append(told, why) }
			o.Now = func() time.Time { return began.Add(time.Duration(looks) * time.Minute) }
			got := RunTrial(ctx, o)
			if want := "the pod has not ended within 3m0s: " + tt.why; got.State != Wrong || !strings.HasPrefix(got.Detail, "the pod has not ended within 3m0s: ") || !strings.Contains(got.Detail, tt.why) {
				t.Errorf("got %s %q, want %q", got.State, got.Detail, want)
			}
			if strings.Contains(got.Fix, "kinetic-doctor-") {
				t.Errorf("the fix is for the pod, which is removed: %s", got.Fix)
			}
			if len(told) > 1 || (len(told) == 1) != tt.told || tt.told && !strings.Contains(told[0], tt.why) {
				t.Errorf("told %q", told)
			}
			if len(tt.cluster.deleted) != 1 {
				t.Errorf("deleted %q", tt.cluster.deleted)
			}
		})
	}
}

// A reason is told once, however long it lasts, and every other one, too.
func TestTellsEachReasonOnce(t *testing.T) {
	pod := func(node, status string) string {
		return `{"metadata":{"name":"NAME-x","namespace":"ml","uid":"p"},"spec":{"nodeName":"` + node + `","containers":[{"name":"kinetic-worker","image":"python:3.12"}]},"status":{"phase":"Pending",` + status + `}}`
	}
	noNode := func(message string) string {
		return pod("", `"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"`+message+`"}]`)
	}
	const growing = `{"reason":"TriggeredScaleUp","lastTimestamp":"2026-01-02T03:04:05Z","message":"pod triggered scale-up: [{pool for jobs 0->1 (max: 4)}]","involvedObject":{"kind":"Pod","name":"NAME-x","uid":"p"}}`
	for name, tt := range map[string]struct {
		pods   []string
		events string
		told   int
	}{
		"the same for longer": {[]string{noNode("waiting for a"), noNode("waiting for a"), noNode("waiting for a")}, growing, 1},
		"another one":         {[]string{noNode("waiting for a"), noNode("waiting for b"), noNode("waiting for b")}, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			c, looks := trialCluster{events: tt.events}, 0
			ctx := timeUp{t.Context(), make(chan struct{})}
			c.looked = func() {
				c.pods = tt.pods[min(looks, len(tt.pods)-1)]
				if looks++; looks == len(tt.pods) {
					close(ctx.done)
				}
			}
			var told []string
			o := trialOptions(c.start(t))
			o.Tell = func(why string) { told = append(told, why) }
			o.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 6+looks, 0, 0, time.UTC) }
			RunTrial(ctx, o)
			if len(told) != tt.told {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestDocumentationNamesTheImage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "else `" + TrialImage + "`"; !strings.Contains(string(page), want) {
		t.Errorf("no %q in docs/doctor.md", want)
	}
}

func TestJob(t *testing.T) {
	c := trialCluster{pods: ended("0", `{"ok":true}`)}
	RunTrial(t.Context(), trialOptions(c.start(t)))
	pod := c.made.Spec.Template.Spec
	worker := pod.Containers[0]
	if pod.ServiceAccountName != "kinetic" || worker.Image != "python:3.12" || worker.Env[0].Value != "http://gcs" {
		t.Errorf("got %+v", pod)
	}
	if got := worker.Command[3:]; got[0] != "acme" || got[1] != "team/blobs/doctor/"+c.made.Name {
		t.Errorf("got the arguments %q", got)
	}
	if limit := time.Duration(*c.made.Spec.ActiveDeadlineSeconds) * time.Second; limit <= TrialWithin {
		t.Errorf("the cluster ends it after %v, before its state is told", limit)
	}
	if app := c.made.Labels["app"]; app != "" {
		t.Errorf("it is listed as a job: app=%s", app)
	}
}

// try runs the program of the pod here.
func try(t *testing.T, env ...string) (ok bool, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", "-c", program, "acme", "blobs/doctor/a b")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v", err)
	}
	var answer struct{ OK bool }
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return answer.OK, string(out)
}

func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	s, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Port: 0})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if ok, text := try(t, "STORAGE_EMULATOR_HOST="+s.URL()); ok || !strings.Contains(text, "writing gs://acme/blobs/doctor/a b") {
		t.Errorf("without the bucket: %s", text)
	}
	s.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "acme"})
	if ok, text := try(t, "STORAGE_EMULATOR_HOST="+s.URL()); !ok {
		t.Errorf("got %s", text)
	}
	if _, err := s.GetObject("acme", "blobs/doctor/a b"); err == nil {
		t.Error("it leaves its object")
	}
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" || strings.HasSuffix(r.URL.Path, "/token") {
			http.Error(w, "no account", http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, "jobs@acme")
	}))
	t.Cleanup(metadata.Close)
	ok, text := try(t, "STORAGE_EMULATOR_HOST=", "GCE_METADATA_HOST="+strings.TrimPrefix(metadata.URL, "http://"), "NO_PROXY=127.0.0.1")
	if ok || !strings.Contains(text, `"why": "404 no account"`) {
		t.Errorf("without an account: %s", text)
	}
}
