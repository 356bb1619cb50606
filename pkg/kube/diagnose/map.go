package diagnose

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// explainFailedMap explains a failed map: which chunks failed, and the first of their
// errors. An exception in a call is the result of its input and doesn't fail a pod.
func (s Observation) explainFailedMap(end *batchv1.JobCondition) Diagnosis {
	r := Diagnosis{Sentence: foreign(end.Message), Next: s.logs()}
	if failed := s.Workload.job.Status.FailedIndexes; failed != nil && *failed != "" && s.Workload.job.Spec.Completions != nil {
		r.Sentence = fmt.Sprintf("%d of %d chunks failed: %s", Count(*failed), *s.Workload.job.Spec.Completions, cut(oneLine(*failed), indexesLimit))
	}
	if p := firstFailed(s.Pods); p != nil {
		r.Sentence += prefixed(fmt.Sprintf("; chunk %d: ", HostOf(*p)), s.explainEnd(*p).Sentence)
		if tookTooLong(*p) {
			r.Sentence += ", which is for a whole chunk"
		}
	}
	return r
}

func tookTooLong(p corev1.Pod) bool {
	t := WorkerOf(p).State.Terminated
	return t != nil && ended(t, 0, time.Time{}).Reason == api.DeadlineExceeded
}

// indexesLimit leaves room for an error next to a list of indexes.
const indexesLimit = 60

// reportedHashes returns what the pods of a map have reported of their lists of hashes.
func reportedHashes(pods []corev1.Pod) []api.ChunkHashes {
	var all []api.ChunkHashes
	for _, p := range pods {
		t := WorkerOf(p).State.Terminated
		if t == nil || !strings.Contains(t.Message, `"hashes"`) { // which is faster than reading thousands of messages
			continue
		}
		reported := api.ChunkHashes{Chunk: HostOf(p)}
		if json.Unmarshal([]byte(t.Message), &reported) == nil && reported.SHA256 != "" {
			all = append(all, reported)
		}
	}
	return all
}

// allDone reports whether all chunks of a map are done. The Job counts a chunk when its
// whole pod has ended, and some sidecars end seconds after the worker.
func (w Workload) allDone(pods []corev1.Pod) bool {
	if w.job.Spec.Completions == nil {
		return false
	}
	counted, more := w.job.Status.CompletedIndexes, map[int]bool{}
	left := int(*w.job.Spec.Completions) - Count(counted)
	if left > w.AtATime(pods) { // most of the time: then the pods need not be looked at
		return false
	}
	for _, p := range pods {
		t := WorkerOf(p).State.Terminated
		if t != nil && t.ExitCode == 0 && !Has(counted, HostOf(p)) {
			more[HostOf(p)] = true
		}
	}
	return len(more) == left
}

// firstFailed returns the last pod of the first failed chunk, nil if that pod is gone.
func firstFailed(pods []corev1.Pod) *corev1.Pod {
	for _, p := range NewestOfHosts(pods) {
		if t := WorkerOf(p).State.Terminated; p.Status.Phase == corev1.PodFailed || t != nil && t.ExitCode != 0 {
			return &p
		}
	}
	return nil
}
