package run

import (
	"cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/amount"
)

// defaultRequests completes what a host requests with what the variables say, then with what the
// profile does. A wrong value of theirs is reported by their name. It also takes from the profile the repository of the Pathways
// runtime, and for how long pods stay.
func defaultRequests(r *api.Request, t target.Target, getenv func(string) string) error {
	for _, d := range []struct {
		value             *string
		variable          string
		ofProfile, option string
		check             func(from, value string) error
	}{
		{&r.CPU, "KINETIC_CPU", t.CPU, "cpu of the profile", amount.Positive},
		{&r.Memory, "KINETIC_MEMORY", t.Memory, "memory of the profile", amount.Size},
	} {
		if *d.value != "" {
			continue
		}
		from, value := d.variable, getenv(d.variable)
		if value == "" {
			from, value = d.option, d.ofProfile
		}
		if err := d.check(from, value); err != nil {
			return err
		}
		*d.value = value
	}
	r.Pathways.Images = cmp.Or(r.Pathways.Images, t.PathwaysImages)
	if r.KeepWarm.Idle > 0 || t.KeepWarm == "" {
		return nil
	}
	r.KeepWarm.ByDefault = true
	return readKeepWarm(&r.KeepWarm, "keep_warm of the profile", t.KeepWarm)
}
