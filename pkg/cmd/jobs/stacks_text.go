package jobs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

type stacksText struct {
	job       api.Handle
	workspace string // the package root where the call runs
}

func (s stacksText) of(groups []job.ThreadGroup) []byte {
	var b bytes.Buffer
	for i, g := range groups {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s:\n", s.title(g))
		for _, f := range g.Frames {
			fmt.Fprintf(&b, "  %s (%s:%d)\n", f.Function, s.file(f.File), f.Line)
		}
		if len(g.Frames) == 0 {
			b.WriteString("  no Python code\n")
		}
	}
	return b.Bytes()
}

// title returns whose stack it is: 14 hosts (0-6, 8-14), main thread.
func (s stacksText) title(g job.ThreadGroup) string {
	what := "thread"
	if g.Main {
		what = "main thread"
	}
	if g.Name != "" {
		what += " " + g.Name
	}
	if g.Child {
		what += " of a child process"
	}
	if g.Threads > len(g.Hosts) {
		what = fmt.Sprintf("%s, %d times", what, g.Threads)
	}
	if s.job.Hosts <= 1 && s.job.Map == nil {
		return what
	}
	noun := "host"
	if s.job.Map != nil {
		noun = "pod"
	}
	if len(g.Hosts) == 1 {
		return fmt.Sprintf("%s %d, %s", noun, g.Hosts[0], what)
	}
	return fmt.Sprintf("%s (%s), %s", human.Count(len(g.Hosts), noun), human.Ranges(g.Hosts), what)
}

// file shortens the path of a file: relative to the package root, or to where packages are installed.
func (s stacksText) file(path string) string {
	if inside, ok := strings.CutPrefix(path, s.workspace+"/"); ok {
		return inside
	}
	for _, folder := range []string{"/site-packages/", "/dist-packages/", "/lib/"} {
		if _, inside, ok := strings.Cut(path, folder); ok {
			return inside
		}
	}
	return path
}

// silentHosts returns lines about hosts and programs that gave no answer, with the reason. Hosts with the same reason share a line.
func silentHosts(hosts []job.StackHost) []string {
	var reasons []string
	of := map[string][]int{}
	add := func(host int, why string) {
		if of[why] == nil {
			reasons = append(reasons, why)
		}
		of[why] = append(of[why], host)
	}
	var programs []string
	for _, h := range hosts {
		if h.Why != "" {
			add(h.Number, h.Why)
		}
		for _, p := range h.Processes {
			if p.Why != "" {
				programs = append(programs, fmt.Sprintf("host %d, process %d (%s): %s", h.Number, p.PID, strings.Join(p.Command, " "), p.Why))
			}
		}
	}
	var lines []string
	for _, why := range reasons {
		slices.Sort(of[why])
		switch {
		case len(hosts) == 1:
			lines = append(lines, why)
		case len(of[why]) == 1:
			lines = append(lines, fmt.Sprintf("host %d: %s", of[why][0], why))
		default:
			lines = append(lines, fmt.Sprintf("hosts %s: %s", human.Ranges(of[why]), why))
		}
	}
	return append(lines, programs...)
}
