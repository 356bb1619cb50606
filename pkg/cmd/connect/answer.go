package connect

import (
	"errors"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// NamespaceFlag returns where the value of --namespace is.
func (c *Flags) NamespaceFlag() *string { return &c.overrides.Context.Namespace }

// Accept sets a flag, which is a field of Target or NamespaceFlag, to an answer. If a new profile can't have the
// value, the flag keeps its old one. The error doesn't name the flag, since nobody typed it.
func (c *Flags) Accept(answer string, flag *string) error {
	old := *flag
	*flag = answer
	_, err := c.ResolveNewProfile()
	if err == nil {
		return nil
	}
	*flag = old
	var invalid *config.InvalidError
	if errors.As(err, &invalid) && strings.HasPrefix(invalid.From, "--") {
		return invalid.Reason
	}
	return err
}
