package job

import (
	"context"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// watch is Backend.Watch, completed from the store: which attempt runs, and how the job
// ended if its workload can't say that.
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
			s.Message, s.Next = "", "" // it no longer waits
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

// settled returns s or, if the workload can't say how the job ended, the end in the store.
func (j *Job) settled(ctx context.Context, s api.Status) api.Status {
	if Lost(s) {
		if end, err := records.EndOfResult(ctx, j.Store, j.ID()); err == nil {
			found := end.Status()
			found.UnreleasedHosts = s.UnreleasedHosts
			return found
		}
	}
	if !unsettled(s) {
		return s
	}
	if end, ended := j.Ended(ctx); ended {
		end.UnreleasedHosts = s.UnreleasedHosts
		return end
	}
	s.UnreleasedHosts = "" // nothing says that it has ended
	return s
}

// Lost reports whether a job failed with its runner, perhaps after its call had ended: then its result says how.
func Lost(s api.Status) bool {
	return s.State == api.Failed && slices.Contains([]api.Reason{api.Killed, api.Disrupted, api.RunnerFailure, api.Terminated}, s.Reason)
}

// unsettled reports whether the store may know more than s: the job may have ended and
// hold its hosts, or it has failed and no pod is left that says why.
func unsettled(s api.Status) bool {
	return s.UnreleasedHosts != "" && !s.State.Ended() || s.Reason == api.Killed && s.ExitCode == nil
}

// Release frees the hosts that a job holds although it has ended, because its runner was
// not allowed to free them.
func (j *Job) Release(ctx context.Context) error {
	end, err := j.end(ctx)
	if err != nil {
		return err
	}
	return j.Backend.Release(ctx, j.Handle, end)
}

// counter finds the attempt of a pod. The pods of earlier attempts may be gone, so it
// counts the records of attempts.
type counter struct {
	pod      string
	attempts []api.Attempt
}

// in returns a status with the number of the attempt. If no pod runs, or the store can't
// be read, that is the number that the workload gives.
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

// numbered sets the attempt number of the pod that runs and, after the first attempt, the
// start of the job.
func numbered(s api.Status, pod string, attempts []api.Attempt) api.Status {
	if s.Attempt = numberOf(attempts, pod); s.Attempt > 1 {
		s.Started = attempts[0].Started
	}
	return s
}

// LastAttempt returns the number of the newest known attempt of a job with this status, 0
// before there is one.
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

// numberOf returns the number of a pod's attempt. A runner that has not recorded its
// attempt yet gets the next number.
func numberOf(attempts []api.Attempt, pod string) int {
	for _, a := range attempts {
		if a.UID == pod {
			return a.Attempt
		}
	}
	return len(attempts) + 1
}
