package job_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// answer is what the runner prints for one program.
func answer(text string) []byte {
	data, _ := json.Marshal(map[string]any{"version": 1, "processes": []map[string]any{{"pid": 7, "parent": 1, "command": []string{"python3", "train.py"}, "text": text}}})
	return data
}

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []job.Thread
	}{
		"a script with a thread": {
			"Thread 0x00007f1 (most recent call first):\n  File \"/usr/lib/python3.11/threading.py\", line 320 in wait\n\n" +
				"Current thread 0x00007f2 (most recent call first):\n  File \"/kinetic/workspace/my \"own\".py\", line 5 in f\n  File \"/kinetic/workspace/a.py\", line ??? in <module>\n",
			[]job.Thread{
				{Frames: []job.StackFrame{{"/usr/lib/python3.11/threading.py", 320, "wait"}}},
				{Main: true, Frames: []job.StackFrame{{`/kinetic/workspace/my "own".py`, 5, "f"}, {"/kinetic/workspace/a.py", 0, "<module>"}}},
			},
		},
		"a function, whose oldest frames are the runner's": {
			"Current thread 0x1 (most recent call first):\n  File \"a.py\", line 5 in f\n  File \"/app/remote_runner.py/kinetic_runner/child/modules.py\", line 124 in value_of\n  File \"/app/remote_runner.py/__main__.py\", line 9 in <module>\n",
			[]job.Thread{{Main: true, Frames: []job.StackFrame{{"a.py", 5, "f"}}}},
		},
		"a function that has not begun": {
			"Current thread 0x1 (most recent call first):\n  File \"/r/kinetic_runner/child/function.py\", line 5 in read_call\n",
			[]job.Thread{{Main: true, Frames: []job.StackFrame{{"/r/kinetic_runner/child/function.py", 5, "read_call"}}}},
		},
		"names, as newer versions write": {
			"Thread 0x1 [loader ] (most recent call first):\n  File \"a.py\", line 1 in f\n\nCurrent thread 0x2 [python3] (most recent call first):\n  <no Python frame>\n",
			[]job.Thread{{Name: "loader", Frames: []job.StackFrame{{"a.py", 1, "f"}}}, {Main: true, Name: "python3", Frames: []job.StackFrame{}}},
		},
		"too many threads": {
			"Thread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n  ...\n...\n",
			[]job.Thread{{Frames: []job.StackFrame{{"a.py", 1, "f"}}}},
		},
		"no answer": {"", []job.Thread{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := job.ReadStacks(answer(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			want := []job.Process{{PID: 7, Parent: 1, Command: []string{"python3", "train.py"}, Threads: tt.want}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"", "no JSON", `{"version": 2}`} {
		if _, err := job.ReadStacks([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Thread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n")
	f.Fuzz(func(t *testing.T, text string) {
		processes, err := job.ReadStacks(answer(text))
		if err != nil {
			t.Fatal(err)
		}
		job.GroupThreads([]job.StackHost{{Processes: processes}})
	})
}

func TestGroups(t *testing.T) {
	reduce, read, idle := []job.StackFrame{{"dist.py", 9, "all_reduce"}}, []job.StackFrame{{"data.py", 3, "read"}}, []job.StackFrame{{"threading.py", 1, "wait"}}
	host := func(n int, frames []job.StackFrame) job.StackHost {
		return job.StackHost{Number: n, Processes: []job.Process{
			{PID: 5, Parent: 1, Threads: []job.Thread{{Frames: idle}, {Frames: idle}, {Main: true, Frames: frames}}},
			{PID: 6, Parent: 5, Threads: []job.Thread{{Main: true, Frames: read}}},
		}}
	}
	got := job.GroupThreads([]job.StackHost{host(1, read), host(2, reduce), host(0, reduce), {Number: 3, Why: "pending"}})
	want := []job.ThreadGroup{
		{Hosts: []int{0, 2}, Threads: 2, Thread: job.Thread{Main: true, Frames: reduce}},
		{Hosts: []int{1}, Threads: 1, Thread: job.Thread{Main: true, Frames: read}},
		{Hosts: []int{0, 1, 2}, Threads: 3, Child: true, Thread: job.Thread{Main: true, Frames: read}},
		{Hosts: []int{0, 1, 2}, Threads: 6, Thread: job.Thread{Frames: idle}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
