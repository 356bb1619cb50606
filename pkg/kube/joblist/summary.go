// Package joblist lists the jobs of a cluster: as a list shows them, by their objects, and as what
// holds the chips of node pools.
package joblist

import (
	"cmp"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Job returns a copy of a Job with what a list shows.
func Job(j *batchv1.Job) *batchv1.Job {
	t := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: j.Name, Namespace: j.Namespace, UID: j.UID,
			CreationTimestamp: j.CreationTimestamp, DeletionTimestamp: j.DeletionTimestamp,
			Labels: j.Labels, Annotations: j.Annotations},
		Spec: batchv1.JobSpec{Suspend: j.Spec.Suspend, BackoffLimit: j.Spec.BackoffLimit, ActiveDeadlineSeconds: j.Spec.ActiveDeadlineSeconds,
			Completions: j.Spec.Completions, Parallelism: j.Spec.Parallelism, CompletionMode: j.Spec.CompletionMode, BackoffLimitPerIndex: j.Spec.BackoffLimitPerIndex},
		Status: batchv1.JobStatus{Conditions: j.Status.Conditions, Succeeded: j.Status.Succeeded, CompletedIndexes: j.Status.CompletedIndexes, FailedIndexes: j.Status.FailedIndexes},
	}
	if j.Spec.BackoffLimit != nil && *j.Spec.BackoffLimit > 0 {
		t.Spec.PodFailurePolicy = j.Spec.PodFailurePolicy // which says what is retried
	}
	if diagnose.NewWorkload(diagnose.Job, j).ByPythonTool() {
		t.Spec.Template = j.Spec.Template // which names its bucket
	}
	return t
}

// Pod returns a copy of a pod without what does not matter for the pod's state.
func Pod(p *corev1.Pod) *corev1.Pod {
	t := *p
	t.ManagedFields, t.Spec.Volumes = nil, nil
	t.Spec.DNSPolicy, t.Spec.SchedulerName, t.Spec.SecurityContext = "", "", nil
	for _, v := range p.Spec.Volumes {
		if v.CSI != nil || v.PersistentVolumeClaim != nil || v.Ephemeral != nil { // events name the volume, not the driver or the claim
			t.Spec.Volumes = append(t.Spec.Volumes, v)
		}
	}
	t.Spec.InitContainers, t.Spec.Containers = slimContainers(t.Spec.InitContainers), slimContainers(t.Spec.Containers)
	return &t
}

// slimContainers returns copies of containers without what they run, and how.
func slimContainers(all []corev1.Container) []corev1.Container {
	all = slices.Clone(all)
	for i := range all {
		c := &all[i]
		c.Command, c.Args, c.Env, c.VolumeMounts, c.SecurityContext = nil, nil, nil, nil, nil
		c.ImagePullPolicy, c.TerminationMessagePath, c.TerminationMessagePolicy = "", "", ""
	}
	return all
}

// Summary describes a job by its workload, its pods from the oldest to the newest, and its status.
func Summary(w diagnose.Workload, pods []corev1.Pod, now api.WorkloadStatus) api.JobSummary {
	m := w.Meta()
	r := api.JobSummary{
		ID: m.Labels[api.LabelJobID], Namespace: m.Namespace,
		Store:       m.Annotations[api.AnnotationStore],
		Function:    m.Annotations[api.AnnotationFunction],
		Accelerator: cmp.Or(m.Annotations[api.AnnotationAccelerator], m.Labels[api.LabelAccelerator]),
		Capacity:    api.CapacityKind(m.Labels[api.LabelCapacity]),
		Created:     m.CreationTimestamp.UTC(),
		Hosts:       w.AtATime(pods),
		Pathways:    w.UsesPathways(),
		Map:         w.IsMap(),
		State:       now.State,
		Status:      now.Status,
		JobDetails:  api.JobDetails{Call: m.Annotations[api.AnnotationCall], MaxCost: maxCost(m)},
		Workload:    api.WorkloadFacts{Labels: m.Labels, ByPythonTool: w.ByPythonTool(), Deleted: m.DeletionTimestamp != nil, CurrentPod: now.CurrentPod},
	}
	if r.Map {
		r.Workload.PodTime = podTime(w, pods)
	} else { // a map may have thousands, that come and go
		for _, p := range diagnose.NewestOfHosts(pods) {
			r.Pods = append(r.Pods, p.Name)
			if diagnose.RunsCall(p) {
				r.Workload.Hosts = append(r.Workload.Hosts, Host(p))
			}
		}
	}
	if r.Workload.ByPythonTool {
		r.Store = w.PythonStore()
	}
	for _, p := range slices.Backward(pods) {
		if diagnose.HostOf(p) == 0 {
			r.Node = p.Spec.NodeName
			break
		}
	}
	return r
}

// maxCost returns the cost limit of a workload, 0 for none.
func maxCost(m *metav1.ObjectMeta) float64 {
	usd, err := strconv.ParseFloat(m.Annotations[api.AnnotationMaxCost], 64)
	if err != nil {
		return 0
	}
	return usd
}

// podTime adds up how long the pods of a map ran.
func podTime(w diagnose.Workload, pods []corev1.Pod) *api.PodTime {
	var t api.PodTime
	succeeded := 0
	for _, p := range pods {
		switch state := diagnose.WorkerOf(p).State; {
		case state.Running != nil:
			t.Running = append(t.Running, state.Running.StartedAt.UTC())
		case state.Terminated != nil:
			t.Ended += max(0, state.Terminated.FinishedAt.Sub(state.Terminated.StartedAt.Time))
			if state.Terminated.ExitCode == 0 {
				succeeded++
			}
		}
	}
	if t.Ended == 0 && t.Running == nil {
		return nil
	}
	t.Incomplete = succeeded < w.Completed()
	return &t
}

// IDs returns the IDs of the jobs in one of the states, sorted.
func IDs(jobs []api.JobSummary, states ...api.State) []string {
	all := []string{}
	for _, e := range jobs {
		if slices.Contains(states, e.State) {
			all = append(all, e.ID)
		}
	}
	slices.Sort(all)
	return all
}
