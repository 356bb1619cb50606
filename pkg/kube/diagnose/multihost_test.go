package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// lws is a LeaderWorkerSet of this program, with further annotations.
func lws(annotations ...string) *metav1.PartialObjectMetadata {
	s := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "keras-pathways-x", Namespace: "ml", UID: "the-set", CreationTimestamp: at(0),
		Annotations: map[string]string{api.AnnotationStore: "gs://team"}}}
	for i := 0; i < len(annotations); i += 2 {
		s.Annotations[annotations[i]] = annotations[i+1]
	}
	return s
}

func deletedSet() *metav1.PartialObjectMetadata {
	s := lws()
	s.DeletionTimestamp = new(at(8))
	return s
}

func pythonSet() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "keras-pathways-job-1a2b3c4d"}}
}

// member is a pod of a set of two hosts.
func member(host, made int, state corev1.ContainerState) corev1.Pod {
	p := pod(fmt.Sprintf("h%d-%d", host, made), made, state)
	p.Labels = map[string]string{api.LabelWorkerIndex: fmt.Sprint(host)}
	p.Annotations = map[string]string{annotationLWSSize: "2"}
	p.Spec.NodeName = "node"
	return p
}

// unready is a pod that has not been ready since a second.
func unready(p corev1.Pod) corev1.Pod {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse})
	return p
}

func withChips(p corev1.Pod, n string) corev1.Pod {
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"google.com/tpu": resource.MustParse(n)}
	return p
}

// unplaced is a pod without a node.
func unplaced(p corev1.Pod) corev1.Pod {
	p.Spec.NodeName = ""
	return p
}

// restarted is a container that runs again after an end.
func restarted(p corev1.Pod, code int32) corev1.Pod {
	p.Status.ContainerStatuses[1].LastTerminationState = terminated(code, "", "")
	return p
}

func TestStateOfSet(t *testing.T) {
	code := func(n int) *int { return &n }
	two, five := at(2).UTC(), at(5).UTC()
	const end = `{"version":1,"state":"SUCCEEDED","reason":"Completed","exit_code":0,"attempt":3,"started":"2026-01-01T00:00:02Z","finished":"2026-01-01T00:00:05Z"}`
	tests := map[string]struct {
		set  *metav1.PartialObjectMetadata
		pods []corev1.Pod
		want api.WorkloadStatus
	}{
		"no pod yet":            {lws(), nil, plain(api.Status{State: api.Pending})},
		"a worker goes ahead":   {lws(), []corev1.Pod{member(0, 1, waiting("")), member(1, 2, running(2))}, plain(api.Status{State: api.Pending, Attempt: 1})},
		"the leader runs":       {lws(), []corev1.Pod{member(1, 2, waiting("")), member(0, 1, running(2))}, inPod("h0-1", api.Status{State: api.Running, Attempt: 1, Started: two})},
		"the group began again": {lws(), []corev1.Pod{member(0, 1, running(2)), member(0, 6, waiting("")), member(1, 2, running(2))}, plain(api.Status{State: api.Pending, Attempt: 2, Started: two})},
		"an attempt is over, and its container started again": {lws(), []corev1.Pod{restarted(member(0, 1, running(7)), 137), member(1, 1, running(2))},
			inPod("h0-1", api.Status{State: api.Pending, Attempt: 1, Started: at(7).UTC()})},
		"an attempt is over by a worker's crash": {lws(), []corev1.Pod{member(0, 1, running(2)), member(1, 1, terminated(137, "Error", ""))},
			inPod("h0-1", api.Status{State: api.Pending, Attempt: 1, Started: two})},
		"the leader that has ended before, and closed": {lws(), []corev1.Pod{unready(restarted(member(0, 1, running(2)), 137)), member(1, 2, running(2))},
			inPod("h0-1", api.Status{State: api.Pending, Attempt: 1, Started: two, UnreleasedHosts: "2 hosts"})},
		"the leader has closed": {lws(), []corev1.Pod{unready(withChips(member(0, 1, running(2)), "4")), withChips(member(1, 2, running(2)), "4")},
			inPod("h0-1", api.Status{State: api.Running, Attempt: 1, Started: two, UnreleasedHosts: "8 chips"})},
		"the leader never opened, on cpus": {lws(), []corev1.Pod{unready(member(0, 1, running(2))), member(1, 2, running(2))},
			inPod("h0-1", api.Status{State: api.Running, Attempt: 1, Started: two, UnreleasedHosts: "2 hosts"})},
		"the leader has closed, and another has no node": {lws(), []corev1.Pod{unready(withChips(member(0, 1, running(2)), "4")), unplaced(withChips(member(1, 2, waiting("")), "4"))},
			inPod("h0-1", api.Status{State: api.Running, Attempt: 1, Started: two, UnreleasedHosts: "4 chips"})},
		"the leader has closed, and is alone": {lws(), []corev1.Pod{unready(member(0, 1, running(2)))},
			inPod("h0-1", api.Status{State: api.Running, Attempt: 1, Started: two, UnreleasedHosts: "1 host"})},
		"the outcome is known": {lws(api.Contract.Names.Outcome, end), []corev1.Pod{member(0, 1, running(2))},
			plain(api.Status{State: api.Succeeded, Reason: api.Completed, ExitCode: code(0), Attempt: 3, Started: two, Finished: five})},
		"a late leader may not be the first": {lws(), []corev1.Pod{member(1, 20, running(21)), member(0, 20, running(21))}, inLatePod("h0-20", api.Status{State: api.Running, Attempt: 1, Started: at(21).UTC()})},
		"an outcome that is none":            {lws(api.Contract.Names.Outcome, "{}"), []corev1.Pod{member(0, 1, running(2))}, inPod("h0-1", api.Status{State: api.Running, Attempt: 1, Started: two})},
		"told to end early":                  {deletedSet(), []corev1.Pod{member(0, 1, waiting(""))}, plain(api.Status{State: api.Pending, Attempt: 1})},
		"told to end":                        {deletedSet(), []corev1.Pod{member(0, 1, running(2))}, plain(api.Status{State: api.Running, Message: ending, Attempt: 1, Started: two})},

		"Python: runs": {pythonSet(), []corev1.Pod{member(0, 1, running(2))}, plain(api.Status{State: api.Running, Attempt: 1, Started: two})},
		"Python: done, and started again": {pythonSet(), []corev1.Pod{restarted(member(0, 1, running(7)), 0), member(1, 1, running(2))},
			plain(api.Status{State: api.Succeeded, Reason: api.Completed, ExitCode: code(0), Attempt: 1, Started: two, Finished: five})},
		"Python: a worker failed": {pythonSet(), []corev1.Pod{restarted(member(0, 1, running(7)), 0), restarted(member(1, 1, running(2)), 1)},
			plain(api.Status{State: api.Failed, Reason: api.ExitCode, Message: "host 1: exit code 1", ExitCode: code(1), Attempt: 1, Started: two, Finished: five})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, workloadOf(tt.set).State(tt.pods)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// groupJob is an Indexed Job of two hosts.
func groupJob(conditions ...batchv1.JobCondition) *batchv1.Job {
	j := job(conditions...)
	j.Spec.CompletionMode, j.Spec.Completions = new(batchv1.IndexedCompletion), new(int32(2))
	return j
}

func indexed(host int, state corev1.ContainerState) corev1.Pod {
	p := pod(fmt.Sprintf("h%d", host), 1, state)
	p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(host)}
	return p
}

func TestStateOfAGroupThatIsAJob(t *testing.T) {
	one := 1
	two, five, nine := at(2).UTC(), at(5).UTC(), at(9).UTC()
	told := terminated(1, "Error", `{"version":1,"state":"FAILED","reason":"Exception","message":"ValueError: bad, on host 1","exit_code":1,"attempt":1}`)
	broken := failedCondition(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	killedLater := indexed(0, terminated(137, "Error", ""))
	killedLater.Status.ContainerStatuses[1].State.Terminated.FinishedAt = at(8)
	ended := terminated(143, "Error", `{"version":1,"state":"FAILED","reason":"Terminated","message":"f.py:ticks was terminated","exit_code":143}`)
	aMap := job()
	aMap.Spec.BackoffLimitPerIndex = new(int32(3))
	tests := map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want api.WorkloadStatus
	}{
		"one attempt, however many pods": {groupJob(), []corev1.Pod{indexed(1, running(2)), indexed(0, running(2))}, inPod("h0", api.Status{State: api.Running, Attempt: 1, Started: two})},
		"a worker that ended is no end":  {groupJob(), []corev1.Pod{indexed(1, terminated(0, "Completed", "")), indexed(0, running(2))}, inPod("h0", api.Status{State: api.Running, Attempt: 1, Started: two})},
		"nor is its failure, of which host 0 will tell": {groupJob(), []corev1.Pod{indexed(1, terminated(1, "Error", "")), indexed(0, running(2))},
			inPod("h0", api.Status{State: api.Running, Attempt: 1, Started: two})},
		"host 0 tells": {groupJob(), []corev1.Pod{indexed(1, terminated(1, "Error", "")), indexed(0, told)},
			plain(api.Status{State: api.Failed, Reason: api.Exception, Message: "ValueError: bad, on host 1", ExitCode: &one, Attempt: 1, Started: two, Finished: five})},
		"host 1 is lost, of which host 0 will tell": {groupJob(failedCondition(batchv1.JobFailureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit")), []corev1.Pod{indexed(0, running(2))},
			plain(api.Status{State: api.Running, Message: ending, Attempt: 1, Started: two})},
		"host 1 crashed, and the others were ended": {groupJob(broken), []corev1.Pod{indexed(0, terminated(143, "Error", "")), indexed(1, terminated(137, "OOMKilled", ""))},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Message: "host 1: out of memory: it used all of its 2Gi; request more with --memory", ExitCode: new(137), Attempt: 1, Started: two, Finished: nine})},
		"host 1 crashed, and another was killed because it did not end": {groupJob(broken), []corev1.Pod{killedLater, indexed(1, terminated(137, "OOMKilled", ""))},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Message: "host 1: out of memory: it used all of its 2Gi; request more with --memory", ExitCode: new(137), Attempt: 1, Started: two, Finished: nine})},
		"host 0 is gone, and the others were ended": {groupJob(broken), []corev1.Pod{indexed(1, ended)},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Message: "host 0 was lost: its pod is gone", Attempt: 0, Started: two, Finished: nine})},
		"host 0 is gone, after host 1 crashed": {groupJob(broken), []corev1.Pod{indexed(1, terminated(137, "OOMKilled", ""))},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Message: "host 1: out of memory: it used all of its 2Gi; request more with --memory", ExitCode: new(137), Started: two, Finished: nine})},

		"a map goes on after a call": {aMap, []corev1.Pod{indexed(0, terminated(0, "Completed", ""))}, plain(api.Status{State: api.Running, Attempt: 1, Started: two})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, workloadOf(tt.job).State(tt.pods)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWhyAGroupWaits(t *testing.T) {
	unscheduled := func(host int, says string) corev1.Pod {
		p := unplaced(member(host, 1, corev1.ContainerState{}))
		p.Status.ContainerStatuses = nil
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: says}}
		return p
	}
	removed := func(p corev1.Pod) corev1.Pod {
		p.DeletionTimestamp = new(at(8))
		return p
	}
	evictedPod := member(1, 1, terminated(143, "Error", ""))
	evictedPod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
	told := terminated(137, "Error", `{"state":"FAILED","message":"host 1: t.py:die was killed by signal 9"}`)
	startedAgain := member(0, 1, running(7))
	startedAgain.Status.ContainerStatuses[1].LastTerminationState = told
	endedAgain := member(0, 1, terminated(125, "Error", ""))
	endedAgain.Status.ContainerStatuses[1].LastTerminationState = told
	const again = "host 1: t.py:die was killed by signal 9; all hosts restart"
	killedLater := member(0, 1, terminated(137, "Error", ""))
	killedLater.Status.ContainerStatuses[1].State.Terminated.FinishedAt = at(30)
	refused := corev1.Event{Reason: "FailedCreate", InvolvedObject: corev1.ObjectReference{Kind: "StatefulSet", Name: "keras-pathways-x-0"},
		Message: `create Pod keras-pathways-x-0-1 in StatefulSet keras-pathways-x-0 failed error: pods "keras-pathways-x-0-1" is forbidden: exceeded quota: team, requested: pods=1, used: pods=1, limited: pods=1`}
	tests := map[string]struct {
		pods   []corev1.Pod
		events []corev1.Event
		want   string
	}{
		"nothing is known": {nil, nil, ""},
		"one host has no node": {[]corev1.Pod{member(0, 1, waiting("ContainerCreating")), unscheduled(1, "0/3 nodes are available: 3 Insufficient cpu.")}, nil,
			"1 of 2 hosts have a node; host 1: no node has room: 3 of 3 with too little cpu free"},
		"all slices are taken": {[]corev1.Pod{unscheduled(0, "0/270 nodes are available: 2 node(s) had untolerated taint(s), 260 node(s) didn't match Pod's node affinity/selector, 8 Insufficient google.com/tpu. no new claims to deallocate, preemption: 0/270 nodes are available: 262 Preemption is not helpful for scheduling, 8 No preemption victims found for incoming pod.")}, nil,
			"0 of 2 hosts have a node; host 0: no node has room: 8 of 270 with too little google.com/tpu free, 2 with a taint, 260 "},
		"a host was evicted": {[]corev1.Pod{removed(member(0, 1, terminated(143, "Error", ""))), removed(evictedPod)}, nil,
			"host 1: evicted from node node, which is being drained; all hosts restart"},
		"a host was lost": {[]corev1.Pod{removed(member(0, 1, terminated(143, "Error", ""))), member(1, 1, running(2))}, nil,
			"a host was lost or crashed; all hosts restart"},
		"its pod was made anew before the others go": {[]corev1.Pod{removed(member(0, 1, terminated(143, "Error", ""))), removed(member(1, 20, waiting("ContainerCreating")))}, nil,
			"host 1: its pod was deleted or lost with its node; all hosts restart"},
		"it was made as the others were": {[]corev1.Pod{removed(member(0, 1, running(2))), removed(member(1, 4, running(5)))}, nil,
			"a host was lost or crashed; all hosts restart"},
		"a worker is removed": {[]corev1.Pod{member(0, 1, running(2)), removed(member(1, 1, running(2)))}, nil,
			"host 1: its pod was deleted or lost with its node; all hosts restart"},
		"the leader is removed": {[]corev1.Pod{removed(member(0, 1, running(2))), member(1, 1, running(2))}, nil,
			"host 0: its pod was deleted or lost with its node; all hosts restart"},
		"the leader is removed for another": {[]corev1.Pod{removed(member(0, 1, running(2))), member(1, 4, waiting("ContainerCreating"))}, nil,
			"a host was lost or crashed; all hosts restart"},
		"all are removed": {[]corev1.Pod{removed(member(0, 1, running(2))), removed(member(1, 1, running(2)))}, nil,
			"a host was lost or crashed; all hosts restart"},
		"one is left, and removed": {[]corev1.Pod{removed(member(0, 1, running(2)))}, nil,
			"a host was lost or crashed; all hosts restart"},
		"the leader tells of the host that crashed": {[]corev1.Pod{member(0, 1, told), member(1, 1, running(2))}, nil, again},
		"its container was started again":           {[]corev1.Pod{startedAgain, member(1, 1, running(2))}, nil, again},
		"and has ended again":                       {[]corev1.Pod{endedAgain, member(1, 1, running(2))}, nil, again},
		"then it is removed":                        {[]corev1.Pod{removed(startedAgain), removed(member(1, 1, terminated(143, "Error", "")))}, nil, again},
		"a host crashed without a word of its own": {[]corev1.Pod{member(0, 1, running(2)), member(1, 1, terminated(137, "OOMKilled", ""))}, nil,
			"host 1: out of memory: it used all of its 2Gi; request more with --memory; all hosts restart"},
		"another was killed because it did not end": {[]corev1.Pod{removed(killedLater), removed(member(1, 1, terminated(137, "OOMKilled", "")))}, nil,
			"host 1: out of memory: it used all of its 2Gi; request more with --memory; all hosts restart"},
		"a worker can't be made": {[]corev1.Pod{member(0, 1, running(2))}, []corev1.Event{refused},
			"1 of 2 hosts are running; quota team of namespace ml is exceeded: 1 of pods requested"},
		"nor can the leader": {nil, []corev1.Event{refused}, "quota team of namespace ml is exceeded: 1 of pods requested"},
		"an image":           {[]corev1.Pod{member(0, 1, waiting("ImagePullBackOff")), member(1, 1, running(2))}, nil, "1 of 2 hosts are running; host 0: image"},
		"all have a node":    {[]corev1.Pod{member(0, 1, waiting("ImagePullBackOff")), member(1, 1, waiting("ImagePullBackOff"))}, nil, "host 0: image"},
		"the others run": {[]corev1.Pod{member(0, 1, running(2)), unscheduled(1, "0/3 nodes are available: 3 Insufficient cpu.")}, nil,
			"1 of 2 hosts are running; host 1: no node has room: 3 of 3 with too little cpu free"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Observation{Workload: workloadOf(lws()), Pods: tt.pods, Events: tt.events, Now: time.Now()}.Explain()
			got := r.Sentence
			if over := strings.HasSuffix(got, startAgain); r.StartsAgain != over {
				t.Errorf("its attempt is over: %t, want %t", r.StartsAgain, over)
			}
			if len(got) < len(tt.want) || got[:len(tt.want)] != tt.want || tt.want == "" && got != "" {
				t.Errorf("got %q, want %q …", got, tt.want)
			}
		})
	}
}

// Pods that go take with them what they tell, and what took their place has not run.
func TestACauseIsRecalled(t *testing.T) {
	const over, other, unknown = "host 1: exit code 137" + startAgain, "host 2: exit code 137 (SIGKILL)" + startAgain, lostSomehow + startAgain
	waits := func(message string) api.WorkloadStatus {
		return plain(api.Status{State: api.Pending, Message: message})
	}
	again := func(pod, message string) api.WorkloadStatus {
		s := inPod(pod, api.Status{State: api.Pending})
		Diagnosis{Sentence: message, StartsAgain: true}.addTo(&s)
		return s
	}
	runs := func(pod string) api.WorkloadStatus { return inPod(pod, api.Status{State: api.Running}) }
	for name, tt := range map[string]struct {
		seen []api.WorkloadStatus
		want string // the last message
	}{
		"it is gone":                    {[]api.WorkloadStatus{again("", over), again("", unknown)}, over},
		"another pod ends":              {[]api.WorkloadStatus{again("", over), again("", unknown), again("", other)}, over},
		"there was none":                {[]api.WorkloadStatus{waits(""), again("", unknown)}, unknown},
		"it was of another kind":        {[]api.WorkloadStatus{waits("no node has room"), again("", unknown)}, unknown},
		"there is another":              {[]api.WorkloadStatus{again("", unknown), again("", over)}, over},
		"it is of the past":             {[]api.WorkloadStatus{again("", over), waits("")}, ""},
		"nobody tells for a while":      {[]api.WorkloadStatus{again("", over), waits(""), again("", other)}, over},
		"its leader runs for a while":   {[]api.WorkloadStatus{runs("a"), again("a", over), runs("a"), again("", other)}, over},
		"another attempt ran":           {[]api.WorkloadStatus{again("a", over), runs("b"), again("", other)}, other},
		"an error in the same words":    {[]api.WorkloadStatus{waits("image x" + startAgain), again("", other)}, other},
		"another attempt did not begin": {[]api.WorkloadStatus{again("", over), waits("no node has room"), again("", other)}, other},
	} {
		var now, told api.WorkloadStatus
		for _, s := range tt.seen {
			now, told = Recall(told, s)
		}
		if now.Message != tt.want {
			t.Errorf("%s: got %q, want %q", name, now.Message, tt.want)
		}
	}
}

// A job on several hosts runs when its leader does, and says which hosts do not.
func TestAGroupThatRunsInPartSaysWhatItLacks(t *testing.T) {
	starting, over := member(1, 1, waiting("ContainerCreating")), member(1, 1, terminated(0, "Completed", ""))
	tests := map[string]struct {
		status api.Status
		pods   []corev1.Pod
		want   bool
	}{
		"a host is starting":  {api.Status{State: api.Running}, []corev1.Pod{member(0, 1, running(2)), starting}, true},
		"a host has no pod":   {api.Status{State: api.Running}, []corev1.Pod{member(0, 1, running(2))}, true},
		"all run":             {api.Status{State: api.Running}, []corev1.Pod{member(0, 1, running(2)), member(1, 1, running(2))}, false},
		"a host has ended":    {api.Status{State: api.Running}, []corev1.Pod{member(0, 1, running(2)), over}, false},
		"it is being deleted": {api.Status{State: api.Running, Message: ending}, []corev1.Pod{member(0, 1, running(2)), starting}, false},
		"it has ended":        {api.Status{State: api.Succeeded}, []corev1.Pod{member(0, 1, running(2)), starting}, false},
		"it waits as a whole": {api.Status{State: api.Pending}, nil, true},
	}
	for name, tt := range tests {
		if got := workloadOf(lws()).Waits(tt.status, tt.pods); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestPodsAtATime(t *testing.T) {
	chunks := aMap(0)
	chunks.Spec.Parallelism = new(int32(2))
	for name, tt := range map[string]struct {
		of   *batchv1.Job
		want int
	}{"a map has as many as it may": {chunks, 2}, "hosts are there all": {groupJob(), 2}, "one host": {job(), 1}} {
		if got := workloadOf(tt.of).AtATime(nil); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
