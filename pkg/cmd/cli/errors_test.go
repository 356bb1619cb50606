package cli

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

func TestCodeOf(t *testing.T) {
	missing := func(resource string) error {
		return fmt.Errorf("starting: %w", apierrors.NewNotFound(schema.GroupResource{Resource: resource}, "x"))
	}
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"nothing":                       {nil, ExitDone},
		"any error":                     {context.Canceled, ExitFailed},
		"a mistake":                     {fmt.Errorf("x: %w", Usagef("y")), ExitUsage},
		"a job's own code":              {Exit(7), 7},
		"a namespace that is not there": {missing("namespaces"), ExitUsage},
		"a kind that is not there":      {fmt.Errorf("starting: %w", kube.ErrNoLeaderWorkerSets), ExitUsage},
		"another object that is not":    {missing("jobs"), ExitFailed},
	} {
		if got := CodeOf(tt.err); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", name, got, tt.want)
		}
	}
}
