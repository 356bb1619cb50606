package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// StackFrame is a line that a thread is at: a call that has not returned.
type StackFrame struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // 0 if it is unknown
	Function string `json:"function"`
}

// Thread is a thread of a program.
type Thread struct {
	// Main reports whether Python started with this thread.
	Main bool `json:"main"`
	// Name is its name, "" if Python doesn't tell.
	Name string `json:"name,omitempty"`
	// Frames begin with the newest call.
	Frames []StackFrame `json:"frames"`
}

// Process is a Python program of a job.
type Process struct {
	PID     int      `json:"pid"`
	Parent  int      `json:"parent"`
	Command []string `json:"command"`
	Threads []Thread `json:"threads"`
	// Why is the reason that there are no threads, such as no answer.
	Why string `json:"why,omitempty"`
}

// StackHost is a host of a job, with its Python programs.
type StackHost struct {
	Number    int       `json:"host"`
	Pod       string    `json:"pod,omitempty"`
	Processes []Process `json:"processes"`
	// Why is the reason that there are no processes.
	Why string `json:"why,omitempty"`
}

// stacksVersion is the newest version of the runner's answer that this code reads.
const stacksVersion = 1

// ReadStacks reads what the runner's command stacks has printed.
func ReadStacks(data []byte) ([]Process, error) {
	var answer struct {
		Version   int
		Processes []struct {
			Process
			Text string
		}
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("reading the runner's answer: %w", err)
	}
	if answer.Version > stacksVersion {
		return nil, &api.VersionError{Got: answer.Version, Max: stacksVersion}
	}
	processes := []Process{}
	for _, p := range answer.Processes {
		p.Threads = parseStacks(p.Text)
		processes = append(processes, p.Process)
	}
	return processes, nil
}

const (
	threadHeader = `^(?:Current thread|Thread) 0x[0-9a-f]+(?: \[(.*)\])? \(most recent call first\):$`
	frameLine    = `^  File "(.*)", line (\d+|\?\?\?) in (.*)$`
)

// parseStacks reads what Python's faulthandler writes. The main thread is the last, unless there are too many to write.
func parseStacks(text string) []Thread {
	threads := []Thread{}
	complete := true
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if found := lazyregexp.Of(threadHeader).FindStringSubmatch(l); found != nil {
			threads = append(threads, Thread{Name: strings.TrimSpace(found[1]), Frames: []StackFrame{}})
		} else if found := lazyregexp.Of(frameLine).FindStringSubmatch(l); found != nil && len(threads) > 0 {
			last := &threads[len(threads)-1]
			number, _ := strconv.Atoi(found[2])
			last.Frames = append(last.Frames, StackFrame{found[1], number, found[3]})
		} else if l == "..." { // instead of more threads
			complete = false
		}
	}
	for i := range threads {
		threads[i].Frames = withoutRunner(threads[i].Frames)
	}
	if complete && len(threads) > 0 {
		threads[len(threads)-1].Main = true
	}
	return threads
}

// runnerFolder is in the names of the runner's files that call a function.
const runnerFolder = "/kinetic_runner/child/"

// withoutRunner returns the frames without those of the runner, which are the oldest of a function's call.
func withoutRunner(frames []StackFrame) []StackFrame {
	i := slices.IndexFunc(frames, func(f StackFrame) bool { return strings.Contains(f.File, runnerFolder) })
	if i <= 0 { // before or after the function, there is nothing else
		return frames
	}
	return frames[:i]
}

// ThreadGroup is the threads of a job that do the same.
type ThreadGroup struct {
	// Hosts are the numbers of their hosts, sorted.
	Hosts []int `json:"hosts"`
	// Threads is how many they are.
	Threads int `json:"threads"`
	// Child reports whether other programs of the job have started theirs.
	Child bool `json:"child"`
	Thread
}

// GroupThreads returns the threads of some hosts: main threads first, then what most hosts do.
func GroupThreads(hosts []StackHost) []ThreadGroup {
	groups, at := []ThreadGroup{}, map[string]int{}
	for _, h := range hosts {
		for _, p := range h.Processes {
			child := slices.ContainsFunc(h.Processes, func(other Process) bool { return other.PID == p.Parent })
			for _, t := range p.Threads {
				key := fmt.Sprint(child, t.Main, t.Name, t.Frames)
				i, known := at[key]
				if !known {
					i = len(groups)
					at[key], groups = i, append(groups, ThreadGroup{Child: child, Thread: t})
				}
				g := &groups[i]
				g.Threads++
				if !slices.Contains(g.Hosts, h.Number) {
					g.Hosts = append(g.Hosts, h.Number)
				}
			}
		}
	}
	rank := func(g ThreadGroup) int {
		switch {
		case g.Main && !g.Child:
			return 0
		case g.Main:
			return 1
		}
		return 2
	}
	for i := range groups {
		slices.Sort(groups[i].Hosts)
	}
	slices.SortStableFunc(groups, func(a, b ThreadGroup) int {
		return cmp.Or(rank(a)-rank(b), len(b.Hosts)-len(a.Hosts), b.Threads-a.Threads, a.Hosts[0]-b.Hosts[0])
	})
	return groups
}
