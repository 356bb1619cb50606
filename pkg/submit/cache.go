package submit

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/amount"
)

func validateCache(r api.Request) error {
	if r.NoCache && r.CacheSize != "" {
		return errors.New("--no-cache cannot be combined with --cache-size")
	}
	_, err := amount.Cache("--cache-size", r.CacheSize)
	return err
}

// everybody stands for the user in the scope of a cache that all users of a profile share. No account has this name.
const everybody = "*"

// chooseCache gives the job its cache, of a size that was validated. The Pathways runtime compiles in other pods and has one of its own.
func (p *Planned) chooseCache(r api.Request, user string) {
	size, err := amount.Cache("--cache-size", r.CacheSize)
	if err != nil || r.NoCache || size == 0 || p.Spec.Pathways != nil {
		return
	}
	hardware, acc := "local", p.Spec.Accelerator
	if acc.Spot = false; p.Spec.Backend != api.BackendLocal { // spot machines are the same
		hardware = accelerator.Text(acc)
	}
	user = cmp.Or(user, "-")
	if r.SharedCache {
		user = everybody
	}
	p.Spec.Cache = &api.Cache{Scope: strings.Join([]string{user, filepath.Base(p.Root), hardware}, "/"), Bytes: max(size, 0)}
}
