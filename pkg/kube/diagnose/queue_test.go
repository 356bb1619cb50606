package diagnose

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheNewestKueueWorkloadTells(t *testing.T) {
	older := recorded(t, "testdata/why/queue-turn-waits.yaml")
	s := recorded(t, "testdata/why/queue-turn-taken-back.yaml")
	want := s.Explain()
	older.KueueWorkloads[0].CreationTimestamp = metav1.NewTime(s.KueueWorkloads[0].CreationTimestamp.Add(-time.Second))
	s.KueueWorkloads = append(s.KueueWorkloads, older.KueueWorkloads...)
	if got := s.Explain(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	slices.Reverse(s.KueueWorkloads)
	if got := s.Explain(); got != want {
		t.Errorf("the other way round: %+v, want %+v", got, want)
	}
}
