package local

// StacksCommand returns the program that prints what the threads of a job of this machine are doing.
func (m *Machine) StacksCommand(id string) ([]string, error) { return m.beside(id, "stacks") }
