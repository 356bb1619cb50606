package stacks_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job/stacks"
)

// answer is what the runner prints for one program.
func answer(text string) []byte {
	data, _ := json.Marshal(map[string]any{"version": 1, "processes": []map[string]any{{"pid": 7, "parent": 1, "command": []string{"python3", "train.py"}, "text": text}}})
	return data
}

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []stacks.Thread
	}{
		"a script with a thread": {
			"Thread 0x00007f1 (most recent call first):\n  File \"/usr/lib/python3.11/threading.py\", line 320 in wait\n\n" +
				"Current thread 0x00007f2 (most recent call first):\n  File \"/kinetic/workspace/my \"own\".py\", line 5 in f\n  File \"/kinetic/workspace/a.py\", line ??? in <module>\n",
			[]stacks.Thread{
				{Frames: []stacks.Frame{{"/usr/lib/python3.11/threading.py", 320, "wait"}}},
				{Main: true, Frames: []stacks.Frame{{`/kinetic/workspace/my "own".py`, 5, "f"}, {"/kinetic/workspace/a.py", 0, "<module>"}}},
			},
		},
		"a function, whose oldest frames are the runner's": {
			"Current thread 0x1 (most recent call first):\n  File \"a.py\", line 5 in f\n  File \"/app/remote_runner.py/kinetic_runner/child/modules.py\", line 124 in value_of\n  File \"/app/remote_runner.py/__main__.py\", line 9 in <module>\n",
			[]stacks.Thread{{Main: true, Frames: []stacks.Frame{{"a.py", 5, "f"}}}},
		},
		"a function that has not begun": {
			"Current thread 0x1 (most recent call first):\n  File \"/r/kinetic_runner/child/function.py\", line 5 in read_call\n",
			[]stacks.Thread{{Main: true, Frames: []stacks.Frame{{"/r/kinetic_runner/child/function.py", 5, "read_call"}}}},
		},
		"names, as newer versions write": {
			"Thread 0x1 [loader ] (most recent call first):\n  File \"a.py\", line 1 in f\n\nCurrent thread 0x2 [python3] (most recent call first):\n  <no Python frame>\n",
			[]stacks.Thread{{Name: "loader", Frames: []stacks.Frame{{"a.py", 1, "f"}}}, {Main: true, Name: "python3", Frames: []stacks.Frame{}}},
		},
		"too many threads": {
			"Thread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n  ...\n...\n",
			[]stacks.Thread{{Frames: []stacks.Frame{{"a.py", 1, "f"}}}},
		},
		"no answer": {"", []stacks.Thread{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := stacks.Read(answer(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			want := []stacks.Process{{PID: 7, Parent: 1, Command: []string{"python3", "train.py"}, Threads: tt.want}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"", "no JSON", `{"version": 2}`} {
		if _, err := stacks.Read([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Thread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n")
	f.Fuzz(func(t *testing.T, text string) {
		processes, err := stacks.Read(answer(text))
		if err != nil {
			t.Fatal(err)
		}
		stacks.Groups([]stacks.Host{{Processes: processes}})
	})
}

func TestGroups(t *testing.T) {
	reduce, read, idle := []stacks.Frame{{"dist.py", 9, "all_reduce"}}, []stacks.Frame{{"data.py", 3, "read"}}, []stacks.Frame{{"threading.py", 1, "wait"}}
	host := func(n int, frames []stacks.Frame) stacks.Host {
		return stacks.Host{Number: n, Processes: []stacks.Process{
			{PID: 5, Parent: 1, Threads: []stacks.Thread{{Frames: idle}, {Frames: idle}, {Main: true, Frames: frames}}},
			{PID: 6, Parent: 5, Threads: []stacks.Thread{{Main: true, Frames: read}}},
		}}
	}
	got := stacks.Groups([]stacks.Host{host(1, read), host(2, reduce), host(0, reduce), {Number: 3, Why: "pending"}})
	want := []stacks.Group{
		{Hosts: []int{0, 2}, Threads: 2, Thread: stacks.Thread{Main: true, Frames: reduce}},
		{Hosts: []int{1}, Threads: 1, Thread: stacks.Thread{Main: true, Frames: read}},
		{Hosts: []int{0, 1, 2}, Threads: 3, Child: true, Thread: stacks.Thread{Main: true, Frames: read}},
		{Hosts: []int{0, 1, 2}, Threads: 6, Thread: stacks.Thread{Frames: idle}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
