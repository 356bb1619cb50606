package diagnose

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
)

func (s Observation) newestOf(p corev1.Pod, reasons ...string) *corev1.Event {
	return s.newest(func(e *corev1.Event) bool {
		return slices.Contains(reasons, e.Reason) && isAbout(e, "Pod", p.Name, p.UID)
	})
}

func (s Observation) newestOfWorkload(reasons ...string) *corev1.Event {
	return s.newest(func(e *corev1.Event) bool {
		return slices.Contains(reasons, e.Reason) && isAbout(e, s.Workload.kind.Kind, s.meta().Name, s.meta().UID)
	})
}

// newestOfMaker returns the newest event, with one of the reasons, of what makes the
// pods.
func (s Observation) newestOfMaker(reasons ...string) *corev1.Event {
	return s.newest(func(e *corev1.Event) bool { return slices.Contains(reasons, e.Reason) && s.isOfMaker(e) })
}

func (s Observation) isOfMaker(e *corev1.Event) bool {
	return slices.ContainsFunc(s.Workload.kind.makers(s.meta().Name), func(m maker) bool { return m.isAbout(e, s.meta().UID) })
}

func (s Observation) newest(chosen func(*corev1.Event) bool) *corev1.Event {
	var found *corev1.Event
	for i := range s.Events {
		e := &s.Events[i]
		if chosen(e) && (found == nil || newer(e, found)) {
			found = e
		}
	}
	return found
}

// newer compares events of the same second by name: an event's name ends with its
// creation time in nanoseconds.
func newer(a, b *corev1.Event) bool {
	return cmp.Or(eventTime(a).Compare(eventTime(b)), cmp.Compare(a.Name, b.Name)) > 0
}

// isAbout reports whether an event is about an object. It compares UIDs if both are
// known, since a name can be used again.
func isAbout(e *corev1.Event, kind, name string, uid types.UID) bool {
	o := e.InvolvedObject
	return o.Kind == kind && o.Name == name && (o.UID == "" || uid == "" || o.UID == uid)
}

// eventTime returns when an event was last seen. Which field holds that depends on the
// component that wrote the event.
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

// beginOf returns when an event was first seen, or when the cluster recorded it if that
// was later: the component that writes an event keeps its first time, although the
// cluster deletes events after an hour.
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

// since returns the age of an event, formatted like kubectl's ages.
func (s Observation) since(e *corev1.Event) string {
	return duration.HumanDuration(max(0, s.Now.Sub(eventTime(e))))
}
