package stack

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Kueue admits no job that asks for a resource that its queue does not have. --disk asks for ephemeral storage.
func TestTheQueueHasAllThatJobsAskFor(t *testing.T) {
	have := quota()
	for _, name := range []string{"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "google.com/tpu"} {
		q, err := resource.ParseQuantity(have[name])
		if err != nil || q.Sign() <= 0 {
			t.Errorf("%s: got %q, %v", name, have[name], err)
		}
	}
}
