package diagnose

import (
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// The name of a Job's pod is the Job's name, the index if there is one, and five random characters, with
// dashes between them. The API server cuts what comes before the random characters to 58, so a long name
// is followed by no dash. Before an index, the Job controller cuts the end of the Job's name instead.
const (
	longestPodName = 63
	longestBase    = longestPodName - 5
	// mostDigits is the length of the largest index, which is less than api.MaxChunks.
	mostDigits = 5
)

// podBase returns what the API server appends the random characters to. index is "" for a Job that is not indexed.
func podBase(job, index string) string {
	end := "-"
	if index != "" {
		end = "-" + index + "-"
		job = cutTo(job, longestBase-len(end))
	}
	return cutTo(job+end, longestBase)
}

func cutTo(text string, length int) string { return text[:min(len(text), length)] }

// mayName reports whether a pod of the workload can have a name. A pod of job train-2 has one that begins with the name of
// job train, too: only what follows tells them apart.
func (w Workload) mayName(pod string) bool {
	switch {
	case !w.Exists():
		return false
	case w.job == nil: // the leader, or a worker
		words, found := strings.CutPrefix(pod, w.meta.Name+"-")
		first, second, two := strings.Cut(words, "-")
		n, err := strconv.Atoi(second)
		return found && first == "0" && (!two || err == nil && n > 0)
	}
	index := ""
	if w.isMultiHost() || w.IsMap() {
		words := strings.Split(pod, "-")
		index = words[max(0, len(words)-2)]
		n, err := strconv.Atoi(index)
		if err != nil || strconv.Itoa(n) != index || n >= int(ptr.Deref(w.job.Spec.Completions, math.MaxInt32)) {
			return false
		}
	}
	random, found := strings.CutPrefix(pod, podBase(w.meta.Name, index))
	return found && !strings.Contains(random, "-")
}

// WorkloadNames returns the possible names of the workload that an object is, or is a
// part of. The names of pod makers, StatefulSets and Kueue's Workloads have up to two
// words more than the workload's name. The name of a pod with an index can lack its end:
// EventNames has what is left.
func WorkloadNames(o corev1.ObjectReference) []string {
	name := o.Name
	parts := map[string]int{"Pod": 2, "StatefulSet": 1, "Workload": 2}[o.Kind]
	if o.Kind == "Workload" {
		for _, k := range Kinds {
			name = strings.TrimPrefix(name, k.word()+"-")
		}
	}
	names := []string{name}
	if o.Kind == "Pod" && len(name) == longestPodName {
		names = append(names, name[:longestBase])
	}
	for range parts {
		i := strings.LastIndexByte(name, '-')
		if i <= 0 {
			break
		}
		name = name[:i]
		names = append(names, name)
	}
	return names
}

// EventNames returns the names that WorkloadNames may give a workload's parts: its own, and what the names of
// pods with an index leave of a long one.
func EventNames(workload string) []string {
	names := []string{workload}
	for digits := 1; digits <= mostDigits; digits++ {
		if left := longestBase - len("--") - digits; left < len(workload) {
			names = append(names, workload[:left])
		}
	}
	return names
}

// MayBePartOf reports whether an object may be a workload, or a part of it, by its name.
func MayBePartOf(o corev1.ObjectReference, workload string) bool {
	names := EventNames(workload)
	return slices.ContainsFunc(WorkloadNames(o), func(name string) bool { return slices.Contains(names, name) })
}
