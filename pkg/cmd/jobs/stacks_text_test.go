package jobs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func TestStacksText(t *testing.T) {
	main := job.Thread{Main: true, Frames: []job.StackFrame{
		{File: "/usr/lib/python3.11/site-packages/torch/dist.py", Line: 9, Function: "all_reduce"}, {File: "/kinetic/workspace/a/train.py", Line: 3, Function: "step"}, {File: "/opt/x.py", Line: 1, Function: "<module>"}}}
	groups := []job.ThreadGroup{
		{Hosts: []int{0, 1, 3}, Threads: 3, Thread: main},
		{Hosts: []int{2}, Threads: 4, Child: true, Thread: job.Thread{Name: "pool"}},
	}
	for name, tt := range map[string]struct {
		job  api.Handle
		want string
	}{
		"several hosts": {api.Handle{Hosts: 4}, `3 hosts (0-1, 3), main thread:
  all_reduce (torch/dist.py:9)
  step (a/train.py:3)
  <module> (/opt/x.py:1)

host 2, thread pool of a child process, 4 times:
  no Python code
`},
		"one host": {api.Handle{Hosts: 1}, `main thread:
  all_reduce (torch/dist.py:9)
  step (a/train.py:3)
  <module> (/opt/x.py:1)

thread pool of a child process, 4 times:
  no Python code
`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(stacksText{tt.job, api.PodWorkspace}.of(groups))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSilentHosts(t *testing.T) {
	got := silentHosts([]job.StackHost{
		{Number: 0}, {Number: 2, Why: "pending: no node yet"}, {Number: 1, Why: "pending: no node yet"}, {Number: 3, Why: "failed: exit code 1"},
		{Number: 4, Processes: []job.Process{{PID: 7, Command: []string{"python3", "a.py"}, Why: "no answer in 3s, state D (disk sleep)"}}},
	})
	want := "hosts 1-2: pending: no node yet\nhost 3: failed: exit code 1\nhost 4, process 7 (python3 a.py): no answer in 3s, state D (disk sleep)"
	if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
		t.Error(diff)
	}
	if got := silentHosts([]job.StackHost{{Why: "no Python"}}); !cmp.Equal(got, []string{"no Python"}) {
		t.Error(got)
	}
}
