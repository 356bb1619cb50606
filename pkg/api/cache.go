package api

import "strconv"

// Cache is KINETIC_CACHE_DIR: a directory that outlives jobs, where compilers keep what they have made.
type Cache struct {
	// Scope is what the jobs have in common that share it: who submitted them, the project and the accelerator.
	Scope string
	// Bytes is how much of it the store keeps, 0 for the runner's default.
	Bytes int64
}

// EnvCacheSize is the default of --cache-size.
const EnvCacheSize = "KINETIC_CACHE_SIZE"

// Arguments returns the runner's arguments about it, none without a cache.
func (c *Cache) Arguments() []string {
	if c == nil {
		return nil
	}
	args := []string{"--cache", c.Scope}
	if c.Bytes > 0 {
		args = append(args, "--cache-size", strconv.FormatInt(c.Bytes, 10))
	}
	return args
}
