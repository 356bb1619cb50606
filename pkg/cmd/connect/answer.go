package connect

import (
	"errors"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
)

// Setter sets the value of a flag, and returns what it was.
type Setter func(value string) (old string)

// Set returns the setter of a field of Flags.Target.
func Set(field *string) Setter {
	return func(value string) string {
		old := *field
		*field = value
		return old
	}
}

// Accept sets the value of a flag to the answer of someone who was asked for it. If that is wrong for a new
// profile, the value stays as it was, and the error says why, without the flag, which nobody typed.
func (c *Flags) Accept(answer string, set Setter) error {
	old := set(answer)
	_, err := c.ResolveNewProfile()
	if err == nil {
		return nil
	}
	set(old)
	var invalid *target.InvalidError
	if errors.As(err, &invalid) && strings.HasPrefix(invalid.From, "--") {
		return invalid.Reason
	}
	return err
}
