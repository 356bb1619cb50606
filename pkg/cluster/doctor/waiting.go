package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// waitsLong is how many seconds a job may wait before that is taken for a problem: nodes of a new
// pool take some minutes.
const waitsLong = 15 * 60

func (c *cluster) waiting(ctx context.Context) Finding {
	o, err := c.observe(ctx)
	if apierrors.IsForbidden(err) {
		return Skip("no permission to list jobs in namespace %s", c.Target.Namespace)
	}
	if err != nil {
		return c.failed("list", "jobs", err)
	}
	var all []wait
	for _, w := range o.workloads {
		if found, waits := o.wait(w); waits {
			all = append(all, c.withAccount(ctx, found))
		}
	}
	slices.SortStableFunc(all, func(a, b wait) int { // the worst first
		switch {
		case a.bad == b.bad:
			return strings.Compare(a.id, b.id)
		case a.bad:
			return -1
		}
		return 1
	})
	if len(all) == 0 {
		return Good("none")
	}
	first := all[0]
	text := fmt.Sprintf("%s waits", first.id)
	if first.why != "" {
		text += ": " + first.why
	}
	if others := len(all) - 1; others > 0 {
		text += fmt.Sprintf("; %d more", others)
	}
	if first.bad {
		return Bad(first.next, "%s", text)
	}
	return Good("%s", text)
}

type wait struct {
	id, why, next string
	// bad means that it waits for long, or that waiting does not help.
	bad bool
	// account is the service account that its pods lacked the last time, "" for none.
	account string
}

// withAccount reports whether a job still lacks its service account: nobody makes that by itself, and Kubernetes does not try
// again at once when it is there.
func (c *cluster) withAccount(ctx context.Context, w wait) wait {
	if w.account == "" {
		return w
	}
	err := c.server.Get(ctx, &struct{}{}, nil, "/api/v1/namespaces", c.Target.Namespace, "serviceaccounts", w.account)
	if w.bad = w.bad || apierrors.IsNotFound(err); err == nil {
		w.why = fmt.Sprintf("service account %s was missing; it is there now, and Kubernetes tries again within minutes", w.account)
		w.bad = false
	}
	return w
}

// observed is what the namespace has of jobs at one moment.
type observed struct {
	workloads []diagnose.Workload
	pods      []corev1.Pod
	events    []corev1.Event
	now       metav1.Time
}

func (o observed) wait(w diagnose.Workload) (wait, bool) {
	var pods []corev1.Pod
	for _, p := range o.pods {
		if p.Labels[api.LabelJobID] == w.Meta().Labels[api.LabelJobID] {
			pods = append(pods, p)
		}
	}
	seen := diagnose.Observation{Workload: w, Pods: pods, Events: o.events, Now: o.now.Time}
	s := seen.Status()
	if !w.Waits(s.Status, pods) {
		return wait{}, false
	}
	long := o.now.Sub(w.Meta().CreationTimestamp.Time).Seconds() > waitsLong
	return wait{id: w.Meta().Labels[api.LabelJobID], why: s.Message, next: s.Next, bad: s.Unrecoverable || long && s.Message != "", account: seen.MissingAccount()}, true
}

// observe lists what can say why jobs wait, all at the same time. LeaderWorkerSets and events may be
// missing.
func (c *cluster) observe(ctx context.Context) (observed, error) {
	jobs, sets := batchv1.JobList{}, metav1.PartialObjectMetadataList{}
	pods, events := corev1.PodList{}, corev1.EventList{}
	ours := api.LabelApp + " in (" + api.AppSingleHost + "," + api.AppSet + ")," + api.LabelJobID
	lists := []struct {
		into          any
		group, plural string
		labels        string
		fields        string
		optional      bool
	}{
		{&jobs, "/apis/batch/v1", diagnose.Job.Plural, ours, "status.successful=0", false},
		{&pods, "/api/v1", "pods", ours, "status.phase!=Succeeded,status.phase!=Failed", false},
		{&sets, "/apis/" + diagnose.LeaderWorkerSet.GroupVersion().String(), diagnose.LeaderWorkerSet.Plural, ours, "", true},
		{&events, "/api/v1", "events", "", "", true},
	}
	var all sync.WaitGroup
	errs := make([]error, len(lists))
	for i, l := range lists {
		all.Go(func() {
			parameters := map[string]string{"labelSelector": l.labels, "fieldSelector": l.fields, "resourceVersion": "0"}
			err := c.server.Get(ctx, l.into, parameters, l.group, "namespaces", c.Target.Namespace, l.plural)
			if !l.optional || !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
				errs[i] = err
			}
		})
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return observed{}, err
	}
	o := observed{pods: pods.Items, events: events.Items, now: metav1.Time{Time: c.Now().Add(c.server.Ahead())}}
	for i := range jobs.Items {
		o.workloads = append(o.workloads, diagnose.NewWorkload(diagnose.Job, &jobs.Items[i]))
	}
	for i := range sets.Items {
		o.workloads = append(o.workloads, diagnose.NewWorkload(diagnose.LeaderWorkerSet, &sets.Items[i]))
	}
	return o, nil
}
