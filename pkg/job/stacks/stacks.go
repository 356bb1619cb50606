// Package stacks reads what the Python programs of a job answer when they are asked what their threads are doing, and
// groups the threads that do the same.
package stacks

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

// Frame is a line that a thread is at: a call that has not returned.
type Frame struct {
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
	Frames []Frame `json:"frames"`
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

// Host is a host of a job, with its Python programs.
type Host struct {
	Number    int       `json:"host"`
	Pod       string    `json:"pod,omitempty"`
	Processes []Process `json:"processes"`
	// Why is the reason that there are no processes.
	Why string `json:"why,omitempty"`
}

// version is the newest version of the runner's answer that this code reads.
const version = 1

// Read reads what the runner's command stacks has printed.
func Read(data []byte) ([]Process, error) {
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
	if answer.Version > version {
		return nil, &api.VersionError{Got: answer.Version, Max: version}
	}
	processes := []Process{}
	for _, p := range answer.Processes {
		p.Threads = parse(p.Text)
		processes = append(processes, p.Process)
	}
	return processes, nil
}

const (
	header = `^(?:Current thread|Thread) 0x[0-9a-f]+(?: \[(.*)\])? \(most recent call first\):$`
	line   = `^  File "(.*)", line (\d+|\?\?\?) in (.*)$`
)

// parse reads what Python's faulthandler writes. The main thread is the last, unless there are too many to write.
func parse(text string) []Thread {
	threads := []Thread{}
	complete := true
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if found := lazyregexp.Of(header).FindStringSubmatch(l); found != nil {
			threads = append(threads, Thread{Name: strings.TrimSpace(found[1]), Frames: []Frame{}})
		} else if found := lazyregexp.Of(line).FindStringSubmatch(l); found != nil && len(threads) > 0 {
			last := &threads[len(threads)-1]
			number, _ := strconv.Atoi(found[2])
			last.Frames = append(last.Frames, Frame{found[1], number, found[3]})
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
func withoutRunner(frames []Frame) []Frame {
	i := slices.IndexFunc(frames, func(f Frame) bool { return strings.Contains(f.File, runnerFolder) })
	if i <= 0 { // before or after the function, there is nothing else
		return frames
	}
	return frames[:i]
}

// Group is the threads of a job that do the same.
type Group struct {
	// Hosts are the numbers of their hosts, sorted.
	Hosts []int `json:"hosts"`
	// Threads is how many they are.
	Threads int `json:"threads"`
	// Child reports whether other programs of the job have started theirs.
	Child bool `json:"child"`
	Thread
}

// Groups returns the threads of some hosts: main threads first, then what most hosts do.
func Groups(hosts []Host) []Group {
	groups, at := []Group{}, map[string]int{}
	for _, h := range hosts {
		for _, p := range h.Processes {
			child := slices.ContainsFunc(h.Processes, func(other Process) bool { return other.PID == p.Parent })
			for _, t := range p.Threads {
				key := fmt.Sprint(child, t.Main, t.Name, t.Frames)
				i, known := at[key]
				if !known {
					i = len(groups)
					at[key], groups = i, append(groups, Group{Child: child, Thread: t})
				}
				g := &groups[i]
				g.Threads++
				if !slices.Contains(g.Hosts, h.Number) {
					g.Hosts = append(g.Hosts, h.Number)
				}
			}
		}
	}
	rank := func(g Group) int {
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
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(rank(a)-rank(b), len(b.Hosts)-len(a.Hosts), b.Threads-a.Threads, a.Hosts[0]-b.Hosts[0])
	})
	return groups
}
