package connect

import (
	"errors"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// Kubectl returns the flags with which kubectl reaches the cluster of a target: " --context=dev", "" for the
// current context.
func (c *Flags) Kubectl(t config.Target) string {
	flags := flagText(clientcmd.RecommendedConfigPathFlag, c.loading.ExplicitPath)
	if config, err := c.config.RawConfig(); err == nil && t.Context != config.CurrentContext {
		flags += flagText(clientcmd.FlagContext, t.Context)
	}
	return flags + flagText(clientcmd.FlagAPIServer, c.overrides.ClusterInfo.Server)
}

// explain returns an error whose commands of kubectl have the flags for the cluster that was chosen.
func (c *Flags) explain(err error) error {
	const probe = " --x"
	if human.AddToKubectl(err.Error(), probe) == err.Error() {
		return err
	}
	c.Reload() // the command may have added a context
	where, unknown := c.ResolveStored()
	if unknown != nil {
		return err
	}
	if flags := c.Kubectl(where); flags != "" {
		return &chosen{err, flags}
	}
	return err
}

// chosen is an error of a command in a cluster that kubectl reaches with flags.
type chosen struct {
	error
	flags string
}

func (e *chosen) Error() string { return human.AddToKubectl(e.error.Error(), e.flags) }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *chosen) Unwrap() error { return e.error }

// Next returns what the cause says to do next. pkg/cmd/cli uses it.
func (e *chosen) Next() string {
	var told interface{ Next() string }
	if !errors.As(e.error, &told) {
		return ""
	}
	return human.AddToKubectl(told.Next(), e.flags)
}
