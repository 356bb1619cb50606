package kwok

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// Job is a job, and the pool that `pool add` makes for it.
type Job struct {
	Accelerator api.Accelerator
	Capacity    api.Capacity
	Backend     api.Backend
	Pool        *container.NodePool
}

// way is a way to get machines, as a job and as a node pool ask for them.
type way struct {
	job  api.Capacity
	pool gke.Options
}

// ways are all of them but on demand.
func ways() []way {
	return []way{
		{job: api.Capacity{Kind: api.CapacitySpot}},
		reserved("block-7"),
		reserved("projects/shared/reservations/r/reservationBlocks/b"),
		{api.Capacity{Kind: api.CapacityFlexStart}, gke.Options{FlexStart: true}},
	}
}

// usual is on demand, or what comes nearest for machines that Google Cloud doesn't sell so.
func usual(a api.Accelerator) way {
	switch flags := accelerator.NotOnDemand(a); {
	case flags == nil:
		return way{}
	case flags[0] == "--reservation":
		return reserved("block-7")
	}
	return way{api.Capacity{Kind: api.CapacityFlexStart}, gke.Options{FlexStart: true}}
}

// reserved is a reservation.
func reserved(name string) way {
	return way{api.Capacity{Kind: api.CapacityReservation, Name: name}, gke.Options{Reservation: name}}
}

// Jobs returns a job on demand, if there is such capacity, for every shape of the catalogue, and for two boxes that are too large
// for it; and for some of the shapes one with each other capacity. Each is there once for every backend that supports it.
func Jobs() ([]Job, error) {
	boxes, err := parse("v5p-4x4x12", "tpu7x-4x8x12")
	if err != nil {
		return nil, err
	}
	var all []Job
	for _, a := range append(accelerator.Catalogue(), boxes...) {
		if a.Kind == api.CPU || accelerator.IsBareMetal(a) { // its nodes are in every cluster, or in none of pool add
			continue
		}
		if all, err = add(all, a, usual(a)); err != nil {
			return nil, err
		}
	}
	some, err := parse("l4", "t4x4", "gb200", "v3", "v5e-1", "v6e-8", "v6e-8 lws", "v5p-4x4x12", "tpu7x-2x2x2")
	if err != nil {
		return nil, err
	}
	for _, a := range some {
		for _, w := range ways() {
			if w.pool.FlexStart && !accelerator.HasFlexStart(a) || w.job.Kind == api.CapacitySpot && accelerator.OnlyReserved(a) {
				continue
			}
			if all, err = add(all, a, w); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// parse reads accelerators; with "lws" after it, one is on several hosts.
func parse(texts ...string) ([]api.Accelerator, error) {
	var all []api.Accelerator
	for _, text := range texts {
		text, several := strings.CutSuffix(text, " lws")
		o := accelerator.Options{}
		if several {
			o.Backend = api.BackendLWS
		}
		a, err := accelerator.Parse(text, o)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// add appends the jobs on one shape with one capacity.
func add(all []Job, a api.Accelerator, w way) ([]Job, error) {
	a.Spot = w.job.Kind == api.CapacitySpot
	planned, err := gke.Plan(a, w.pool)
	if err != nil {
		return nil, fmt.Errorf("the pool of %s: %w", accelerator.Text(a), err)
	}
	backends := []api.Backend{api.BackendGKE, api.BackendLWS}
	if same, err := accelerator.Parse(accelerator.Text(a), accelerator.Options{Backend: api.BackendPathways}); err == nil && same.Hosts == a.Hosts && accelerator.PathwaysInstance(a) != "" {
		backends = append(backends, api.BackendPathways)
	}
	for _, backend := range backends {
		all = append(all, Job{Accelerator: a, Capacity: w.job, Backend: backend, Pool: planned.Pool})
	}
	return all, nil
}

// String describes the job.
func (j Job) String() string {
	text := fmt.Sprintf("%s on %d, %s", accelerator.Text(j.Accelerator), j.Accelerator.Hosts, j.Backend)
	if j.Capacity.Kind != api.CapacityOnDemand {
		text += fmt.Sprintf(", %s %s", j.Capacity.Kind, j.Capacity.Name)
	}
	return text
}

// Pods returns the pods of the job as they are rendered: that of the only host, or the first two; of a job with the Pathways
// runtime that of the call, and one with chips. Its ID is the name of its pool.
func (j Job) Pods() ([]*corev1.Pod, error) {
	share, hosts, count := accelerator.Share(j.Accelerator), j.Accelerator.Hosts, j.Accelerator.Hosts
	var pathways *api.Pathways
	if j.Backend == api.BackendPathways {
		pathways = &api.Pathways{Version: "jax-0.9.2", Server: "server:jax-0.9.2", Proxy: "proxy_server:jax-0.9.2", TPUHosts: hosts, Instance: accelerator.PathwaysInstance(j.Accelerator)}
		hosts, count = 1, hosts+1
	}
	rendered, err := render.Objects(api.Spec{
		ID: j.Pool.Name, Name: "train", Namespace: "default", Store: "gs://p-kn-c-jobs",
		CallKind: api.CallFunction, CallSHA256: strings.Repeat("a", 64), BundleSHA256: strings.Repeat("b", 64), Created: time.Unix(0, 0),
		Placement: api.Placement{Accelerator: j.Accelerator, Capacity: j.Capacity, Backend: j.Backend, Hosts: hosts, Slices: 1, Image: "image:1", ServiceAccount: api.DefaultServiceAccount,
			CPU: fmt.Sprint(share.CPUs), Memory: fmt.Sprintf("%dGi", share.GiB)},
		Execution: api.Execution{MaxDisruptions: api.DefaultMaxDisruptions}, Pathways: pathways,
	}, render.Overlay{})
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", j, err)
	}
	var pods []*corev1.Pod
	for _, o := range rendered.Objects() {
		for _, path := range [][]string{{"spec", "template"}, {"spec", "leaderWorkerTemplate", "leaderTemplate"}, {"spec", "leaderWorkerTemplate", "workerTemplate"}} {
			template, found, err := unstructured.NestedMap(o.Object, path...)
			if err != nil || !found {
				continue
			}
			pod := &corev1.Pod{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod); err != nil {
				return nil, fmt.Errorf("a pod of %s: %w", j, err)
			}
			pods = append(pods, pod)
		}
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("%s has no pods", j)
	}
	if len(pods) == 1 { // the hosts of a Job have one template
		pods = append(pods, pods[0].DeepCopy())
	}
	pods = pods[:min(2, count)]
	for i, pod := range pods {
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		pod.Name = fmt.Sprintf("%s-%s-%d", j.Pool.Name, j.Backend, i)
	}
	return pods, nil
}
