package kube

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
)

const (
	sentenceLimit = 300
	// foreignLimit leaves room for our own words around a text from elsewhere.
	foreignLimit = 200
)

// newestOf finds the newest event of a pod with one of the reasons.
func (s situation) newestOf(p corev1.Pod, reasons ...string) *corev1.Event {
	return s.newest(func(e *corev1.Event) bool {
		return slices.Contains(reasons, e.Reason) && isAbout(e, "Pod", p.Name, p.UID)
	})
}

// newestOfOwner finds the newest event of the Job or the set with one of the reasons.
func (s situation) newestOfOwner(reasons ...string) *corev1.Event {
	kind := "Job"
	if s.Set != nil {
		kind = setKind
	}
	return s.newest(func(e *corev1.Event) bool {
		return slices.Contains(reasons, e.Reason) && isAbout(e, kind, s.meta().Name, s.meta().UID)
	})
}

// newestOfMaker finds the newest event, with one of the reasons, of what makes the pods.
func (s situation) newestOfMaker(reasons ...string) *corev1.Event {
	return s.newest(func(e *corev1.Event) bool { return slices.Contains(reasons, e.Reason) && s.isOfMaker(e) })
}

// isOfMaker reports whether an event is of what makes the pods: the Job, or the
// StatefulSets of the leader and of the workers.
func (s situation) isOfMaker(e *corev1.Event) bool {
	if s.Set == nil {
		return isAbout(e, "Job", s.meta().Name, s.meta().UID)
	}
	return isAbout(e, "StatefulSet", s.Set.Name, "") || isAbout(e, "StatefulSet", s.Set.Name+"-0", "")
}

func (s situation) newest(chosen func(*corev1.Event) bool) *corev1.Event {
	var found *corev1.Event
	for i := range s.Events {
		e := &s.Events[i]
		if chosen(e) && (found == nil || newer(e, found)) {
			found = e
		}
	}
	return found
}

// newer compares events of the same second by name: the time that an event was
// made at, in nanoseconds, is the end of its name.
func newer(a, b *corev1.Event) bool {
	return cmp.Or(eventTime(a).Compare(eventTime(b)), cmp.Compare(a.Name, b.Name)) > 0
}

// isAbout compares UIDs where both are known: a name can be used again.
func isAbout(e *corev1.Event, kind, name string, uid types.UID) bool {
	o := e.InvolvedObject
	return o.Kind == kind && o.Name == name && (o.UID == "" || uid == "" || o.UID == uid)
}

// eventTime is when an event was last seen. Which field tells depends on the
// component that wrote it.
func eventTime(e *corev1.Event) time.Time {
	if e.Series != nil {
		return e.Series.LastObservedTime.Time
	}
	for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return e.CreationTimestamp.Time
}

// beginOf is when an event was first seen, or when the cluster took it up, if that was later:
// what writes events forgets none of them, and the cluster does after an hour.
func beginOf(e *corev1.Event) time.Time {
	begin := e.FirstTimestamp.Time
	if begin.IsZero() {
		begin = e.EventTime.Time
	}
	if begin.Before(e.CreationTimestamp.Time) {
		return e.CreationTimestamp.Time
	}
	return begin
}

// since is the age of an event as kubectl writes ages.
func (s situation) since(e *corev1.Event) string {
	return duration.HumanDuration(max(0, s.Now.Sub(eventTime(e))))
}

// oneLine makes a line of a text: whatever doesn't print becomes a space.
func oneLine(text string) string {
	printing := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	return strings.Join(strings.Fields(printing), " ")
}

// cut keeps the beginning and the end of a text, with a mark where it was cut: a
// chain of errors begins with what was being done and ends with the cause.
func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	head := limit / 2
	tail := len(runes) - (limit - 1 - head)
	return strings.TrimRight(string(runes[:head]), " ") + "…" + strings.TrimLeft(string(runes[tail:]), " ")
}

// foreign makes a part of a sentence of a text from elsewhere.
func foreign(text string) string {
	return cut(strings.TrimRight(oneLine(text), ". "), foreignLimit)
}

// prefixed is the text with something before it, or nothing at all.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
