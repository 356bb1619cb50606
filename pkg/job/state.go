package job

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// watch is the workload's Watch, made exact by the store: which attempt runs, and
// how a job has ended whose workload can't tell.
func (j *Job) watch(ctx context.Context, seen func(api.Status)) (api.Status, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var over *api.Status
	var count counter
	last, err := j.Backend.Watch(ctx, j.Handle, func(now api.WorkloadStatus) {
		if over != nil {
			return
		}
		s := j.settled(ctx, count.in(ctx, j, now))
		if now.Ending && s.State == api.Pending && !s.Unrecoverable {
			s.Message, s.Next = "", "" // it waits for nothing any more
		}
		seen(s)
		if s.State.Ended() {
			over = &s
			cancel()
		}
	})
	if over != nil {
		return *over, nil
	}
	return last.Status, err
}

// settled is a status with the end that the store says, if the workload can't.
func (j *Job) settled(ctx context.Context, s api.Status) api.Status {
	if !unsettled(s) {
		return s
	}
	if end, ended := j.Ended(ctx); ended {
		end.UnreleasedHosts = s.UnreleasedHosts
		return end
	}
	s.UnreleasedHosts = "" // it has not ended, as far as anybody knows
	return s
}

// unsettled reports a status whether the store may know more: the job may have
// ended and hold its hosts, or it has failed and no pod is left that says why.
func unsettled(s api.Status) bool {
	return s.UnreleasedHosts != "" && !s.State.Ended() || s.Reason == api.Killed && s.ExitCode == nil
}

// Release frees the hosts of a job that has ended and still holds them, which its
// runner was not allowed to do.
func (j *Job) Release(ctx context.Context) error {
	end, err := j.end(ctx)
	if err != nil {
		return err
	}
	return j.Backend.Release(ctx, j.Handle, end)
}

// counter says which attempt a pod is. The pods of earlier ones may be gone, so
// that only their records tell how many there were.
type counter struct {
	pod      string
	attempts []api.Attempt
}

// in is a status with the attempt that it reports: what the workload says, where no
// pod runs or the store can't be read.
func (c *counter) in(ctx context.Context, j *Job, s api.WorkloadStatus) api.Status {
	if s.Pod == "" || j.Handle.ByPythonTool() {
		return s.Status
	}
	if s.Pod != c.pod {
		attempts, err := j.attempts(ctx)
		if err != nil {
			return s.Status
		}
		c.pod, c.attempts = s.Pod, attempts
	}
	return numbered(s.Status, s.Pod, c.attempts)
}

// numbered sets the attempt number of the pod that runs, and the start of the first
// recorded attempt.
func numbered(s api.Status, pod string, attempts []api.Attempt) api.Status {
	if s.Attempt = numberOf(attempts, pod); s.Attempt > 1 {
		s.Started = attempts[0].Started
	}
	return s
}

// LastAttempt is the number of the newest attempt that is known of a job with this
// status, 0 before there is any.
func (j *Job) LastAttempt(ctx context.Context, s api.Status) (int, error) {
	if s.State == api.NotFound {
		var err error
		if s, err = j.remembered(ctx); err != nil {
			return 0, err
		}
	}
	attempts, err := j.attempts(ctx)
	if err != nil || len(attempts) == 0 {
		return s.Attempt, err
	}
	return max(s.Attempt, attempts[len(attempts)-1].Attempt), nil
}

// numberOf is the attempt of a pod: a runner that has not recorded its own takes
// the first that is free.
func numberOf(attempts []api.Attempt, pod string) int {
	for _, a := range attempts {
		if a.UID == pod {
			return a.Attempt
		}
	}
	return len(attempts) + 1
}
