package doctor

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// program is what the pod runs.
//
//go:embed bucket.py
var program string

// TrialImage has the Python that the program needs.
const TrialImage = "python:3.12-slim-bookworm"

// TrialWithin limits the whole: a node may have to be added, and the image pulled.
const TrialWithin = 3 * time.Minute

// removeWithin limits the removal, which also follows Ctrl-C.
const removeWithin = 10 * time.Second

// TrialOptions say what the pod uses.
type TrialOptions struct {
	Config    *rest.Config
	Namespace string
	// Store is the URL of the store, gs://BUCKET[/PREFIX].
	Store string
	// ServiceAccount and Image are those of the pod.
	ServiceAccount, Image string
	// Env are variables of the pod.
	Env map[string]string
	// Interval is the time between two looks at the pod.
	Interval time.Duration
	// Tell is told why the pod waits, each time that this changes.
	Tell func(why string)
	Now  func() time.Time
}

// RunTrial starts the pod, waits for its end, removes it, and returns what it found.
func RunTrial(ctx context.Context, o TrialOptions) Finding {
	server, err := apiserver.NewClient(o.Config, nil)
	if err != nil {
		return Failed(err)
	}
	t := trial{o, server, "kinetic-doctor-" + rand.String(6)}
	limited, cancel := context.WithTimeout(ctx, TrialWithin)
	defer cancel()
	request := apiserver.Request{Verb: "create", Resource: "jobs", Namespace: o.Namespace}
	defer t.remove(ctx) // also if the answer to the creation was lost
	err = server.Send(limited, http.MethodPost, t.job(), nil, t.jobs())
	if err != nil && !apierrors.IsAlreadyExists(err) { // the answer to the first of two requests was lost
		return Failed(request.Explain("creating jobs "+t.name, err))
	}
	return t.follow(limited)
}

type trial struct {
	TrialOptions
	server *apiserver.Client
	name   string
}

func (t *trial) jobs() string { return "/apis/batch/v1/namespaces/" + t.Namespace + "/jobs" }

// remove removes the Job and its pod, even if ctx is over.
func (t *trial) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	background := metav1.DeletePropagationBackground
	// If this fails, the Job removes itself some minutes after its end.
	_ = t.server.Send(ctx, http.MethodDelete, metav1.DeleteOptions{PropagationPolicy: &background}, nil, t.jobs(), t.name)
}

// follow waits for the end of the pod.
func (t *trial) follow(ctx context.Context) Finding {
	ticker := time.NewTicker(t.Interval)
	defer ticker.Stop()
	request := apiserver.Request{Verb: "list", Resource: "pods", Namespace: t.Namespace}
	var last, reason diagnose.Diagnosis // of the last look; the reason is timeless
	for {
		o, err := t.observe(ctx)
		switch {
		case err == nil:
			if f, over := outcome(o.Pods); over {
				return f
			}
			why := o.Explain()
			if why.Unrecoverable || o.Workload.State(o.Pods).State == api.Failed {
				return Bad(t.lasting(why.Next), "the pod can't run: %s", why.Sentence)
			}
			before := reason
			if reason = timeless(o); why.Sentence != "" && reason != before {
				t.Tell(why.Sentence)
			}
			if last = why; last.Sentence == "" {
				last.Sentence = progress(o.Pods)
			}
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
			return Failed(request.Explain("listing pods", err))
		case ctx.Err() == nil:
			last = diagnose.Diagnosis{Sentence: request.Reason(err, t.Interval)}
		}
		select {
		case <-ctx.Done():
			return t.late(ctx, last)
		case <-ticker.C:
		}
	}
}

// late returns the finding for a pod that has not ended in time, and for what it waited last.
func (t *trial) late(ctx context.Context, last diagnose.Diagnosis) Finding {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Skip("interrupted")
	}
	return Bad(t.lasting(last.Next), "the pod has not ended within %s: %s", TrialWithin, cmp.Or(last.Sentence, "nothing is known of it"))
}

// lasting returns a command, "" for one that shows the pod, which is removed.
func (t *trial) lasting(command string) string {
	if strings.Contains(command, t.name) {
		return ""
	}
	return command
}

// timeless explains an observation without how long something has been so.
func timeless(o diagnose.Observation) diagnose.Diagnosis {
	o.Now = time.Time{} // before all events
	return o.Explain()
}

// progress says how far a pod has come that nothing seems to stop.
func progress(pods []corev1.Pod) string {
	if len(pods) == 0 {
		return "its Job has created no pod"
	}
	p := pods[len(pods)-1]
	state := diagnose.WorkerOf(p).State
	switch {
	case p.Spec.NodeName == "":
		return "no node has been chosen for it"
	case state.Running != nil:
		return "its container runs"
	case state.Waiting != nil && state.Waiting.Reason != "":
		return "its container has not started: " + state.Waiting.Reason
	}
	return "its container has not started"
}

func (t *trial) observe(ctx context.Context) (diagnose.Observation, error) {
	var job batchv1.Job
	var pods corev1.PodList
	var events corev1.EventList
	core := "/api/v1/namespaces/" + t.Namespace
	if err := t.server.Get(ctx, &job, nil, t.jobs(), t.name); err != nil {
		return diagnose.Observation{}, err
	}
	if err := t.server.Get(ctx, &pods, map[string]string{"labelSelector": batchv1.JobNameLabel + "=" + t.name}, core, "pods"); err != nil {
		return diagnose.Observation{}, err
	}
	if err := t.server.Get(ctx, &events, nil, core, "events"); err != nil && !apierrors.IsForbidden(err) {
		return diagnose.Observation{}, err
	}
	return diagnose.Observation{Workload: diagnose.NewWorkload(diagnose.Job, &job), Pods: pods.Items, Events: events.Items, Now: t.Now().Add(t.server.Ahead())}, nil
}

func outcome(pods []corev1.Pod) (Finding, bool) {
	for _, p := range pods {
		end := diagnose.WorkerOf(p).State.Terminated
		if end == nil {
			continue
		}
		var found struct {
			OK                 bool
			Account, Step, Why string
		}
		if err := json.Unmarshal([]byte(end.Message), &found); err != nil {
			return Bad("", "the pod has ended with exit code %d: %s", end.ExitCode, strings.TrimSpace(end.Reason+" "+end.Message)), true
		}
		as := ""
		if found.Account != "" {
			as = " as " + found.Account
		}
		if !found.OK {
			return Bad("", "in the pod%s, %s failed: %s", as, found.Step, found.Why), true
		}
		return Good("a pod has written, read and deleted an object%s", as), true
	}
	return Finding{}, false
}

// object returns the bucket, and the name of the object: among what the lifecycle rule deletes, if the pod
// can't.
func (t *trial) object() (bucket, name string) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(t.Store, "gs://"), "/")
	if prefix != "" {
		prefix += "/"
	}
	return bucket, fmt.Sprintf("%sblobs/doctor/%s", prefix, t.name)
}
