package local

import (
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/runner"
)

// ShellCommand returns the program that runs a command beside a job of this machine, or a shell if there is no command.
func (m *Machine) ShellCommand(id string, command []string) ([]string, error) {
	return m.beside(id, "shell", command...)
}

// StacksCommand returns the program that prints what the threads of a job of this machine are doing.
func (m *Machine) StacksCommand(id string) ([]string, error) { return m.beside(id, "stacks") }

// beside returns the program that does something beside a job of this machine: a command of the job's runner with arguments.
func (m *Machine) beside(id, command string, arguments ...string) ([]string, error) {
	r, err := m.read(id)
	if err != nil {
		return nil, err
	}
	python, err := m.python()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(m.config.StateDir, r.Runner, runner.File)
	return append([]string{python, "-S", program, command, filepath.Join(m.dir(id), workDir)}, arguments...), nil
}
