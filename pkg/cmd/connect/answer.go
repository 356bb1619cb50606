package connect

import (
	"errors"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
)

// NamespaceFlag returns where the value of --namespace is.
func (c *Flags) NamespaceFlag() *string { return &c.overrides.Context.Namespace }

// Accept sets the value of a flag, a field of Target or NamespaceFlag, to the answer of someone who was asked for
// it. If that is wrong for a new profile, the value stays as it was, and the error says why, without the flag,
// which nobody typed.
func (c *Flags) Accept(answer string, flag *string) error {
	old := *flag
	*flag = answer
	_, err := c.ResolveNewProfile()
	if err == nil {
		return nil
	}
	*flag = old
	var invalid *target.InvalidError
	if errors.As(err, &invalid) && strings.HasPrefix(invalid.From, "--") {
		return invalid.Reason
	}
	return err
}
