package kube

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The time of these tests is the bubble's own.
func TestRetry(t *testing.T) {
	errBusy := fmt.Errorf("trying: %w", apierrors.NewServiceUnavailable("restarting"))
	errFinal := errors.New("no")
	tests := map[string]struct {
		fails  time.Duration // for so long
		limit  time.Duration // of the context
		err    error
		want   []error // which it is
		called bool    // more than once
	}{
		"at once":                                {0, time.Hour, errBusy, nil, false},
		"an API server that is restarted":        {25 * time.Second, time.Hour, errBusy, nil, true},
		"one that stays away":                    {time.Hour, time.Hour, errBusy, []error{errBusy}, true},
		"all the time that there is":             {9 * time.Second, 10 * time.Second, errBusy, nil, true},
		"the end of the time that there is":      {time.Hour, 10 * time.Second, errBusy, []error{errBusy, context.DeadlineExceeded}, true},
		"a failure that does not pass by itself": {time.Hour, time.Hour, errFinal, []error{errFinal}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
				defer cancel()
				begin, calls := time.Now(), 0
				err := retry(ctx, func() error {
					if calls++; time.Since(begin) < tt.fails {
						return tt.err
					}
					return nil
				})
				if (err == nil) != (tt.want == nil) || calls > 1 != tt.called {
					t.Errorf("%d calls, %v", calls, err)
				}
				for _, want := range tt.want {
					if !errors.Is(err, want) {
						t.Errorf("%v is not %v", err, want)
					}
				}
			})
		})
	}
}
