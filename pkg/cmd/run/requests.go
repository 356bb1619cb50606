package run

import (
	"cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/amount"
)

// chooseCacheSize takes the size of the cache from its variable, unless a flag sets it.
func chooseCacheSize(r *api.Request, getenv func(string) string) error {
	if r.CacheSize != "" || r.NoCache {
		return nil
	}
	r.CacheSize = getenv(api.EnvCacheSize)
	_, err := amount.Cache(api.EnvCacheSize, r.CacheSize)
	return err
}

// defaultRequests completes what a host requests with what the variables say, then with what the
// profile does. A wrong value of theirs is reported by their name. It also takes from the profile the repository of the Pathways
// runtime, for how long pods stay, and who shares a cache.
func defaultRequests(r *api.Request, t config.Target, getenv func(string) string) error {
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
	if r.CacheSize == "" && !r.NoCache {
		if _, err := amount.Cache("cache_size of the profile", t.CacheSize); err != nil {
			return err
		}
		r.CacheSize = t.CacheSize
	}
	if t.CacheScope != "" {
		if err := cli.OneOf("cache_scope of the profile", t.CacheScope, config.CacheScopes()); err != nil {
			return err
		}
		r.SharedCache = t.CacheScope == config.CacheShared
	}
	if r.KeepWarm.Chosen || t.KeepWarm == "" {
		return nil
	}
	return cli.ReadKeepWarm(&r.KeepWarm, "keep_warm of the profile", t.KeepWarm)
}
