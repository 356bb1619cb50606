package local

import (
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/runner"
)

// ShellCommand returns the program that runs a command beside a job of this machine, or a shell if there is no command.
func (m *Machine) ShellCommand(id string, command []string) ([]string, error) {
	r, err := m.read(id)
	if err != nil {
		return nil, err
	}
	python, err := m.python()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(m.config.StateDir, r.Runner, runner.File)
	return append([]string{python, "-S", program, "shell", filepath.Join(m.dir(id), workDir)}, command...), nil
}
