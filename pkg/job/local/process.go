package local

import "fmt"

// Process identifies a process reliably: its id alone may be reused.
type Process struct {
	PID int `json:"pid"`
	// Start is when the process began, in the kernel's own format.
	Start string `json:"start"`
	// Boot identifies the boot of the system, or the container, in which process ids are
	// unique.
	Boot string `json:"boot,omitempty"`
	// Machine is the machine's name: several machines may share a home directory.
	Machine string `json:"machine,omitempty"`
}

// life is the state of a recorded process.
type life int

const (
	ended     life = iota // a zombie has ended, too
	alive                 // it is running
	elsewhere             // it is on another machine
)

func newProcess(pid int) (Process, error) {
	start, _, err := startTime(pid)
	if err == nil && start == "" {
		err = fmt.Errorf("process %d ended immediately", pid)
	}
	boot, machine := here()
	return Process{PID: pid, Start: start, Boot: boot, Machine: machine}, err
}

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
	return alive // or the look-up failed, which must not declare a job dead
}

// kill kills what is left of the session that the process led. The kernel does not reuse an
// id while a session has it: if the leader is gone and the session is not, it is still the
// leader's.
func (p Process) kill() error {
	if boot, _ := here(); p.Boot != boot {
		return nil
	}
	start, _, err := startTime(p.PID)
	if err != nil || start != "" && start != p.Start {
		return err // another start: the session has ended, and the id was reused
	}
	return killSession(p.PID)
}
