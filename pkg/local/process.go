package local

import "fmt"

// Process recognises a process later: its id alone may be given to another one.
type Process struct {
	PID int `json:"pid"`
	// Start is when the process began, as the kernel says it.
	Start string `json:"start"`
	// Boot names the run of the system, or of a container, that ids count in.
	Boot string `json:"boot,omitempty"`
	// Machine names the machine: a home directory may be shared by several.
	Machine string `json:"machine,omitempty"`
}

// life is what can be told about a recorded process.
type life int

const (
	ended     life = iota // for good; a zombie has ended too
	alive                 // it runs
	elsewhere             // it is another machine's
)

// newProcess describes a process that runs on this machine.
func newProcess(pid int) (Process, error) {
	start, _, err := startTime(pid)
	if err == nil && start == "" {
		err = fmt.Errorf("process %d ended immediately", pid)
	}
	boot, machine := here()
	return Process{PID: pid, Start: start, Boot: boot, Machine: machine}, err
}

// life looks the process up.
func (p Process) life() life {
	if boot, machine := here(); p.Boot != boot {
		if p.Machine != machine {
			return elsewhere
		}
		return ended
	}
	start, running, err := startTime(p.PID)
	if err == nil && (!running || start != p.Start) {
		return ended
	}
	return alive // or cannot be looked up now: no one may be declared dead for that
}

// kill kills what is left of the session that the process led. Ids are not given
// out again while a session bears them: if the leader is gone and the session is
// not, it is still the leader's.
func (p Process) kill() error {
	if boot, _ := here(); p.Boot != boot {
		return nil
	}
	start, _, err := startTime(p.PID)
	if err != nil || start != "" && start != p.Start {
		return err // with another start: the session has ended, and the id was given out again
	}
	return killSession(p.PID)
}
