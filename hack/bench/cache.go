package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// madeCache is a cache to measure: so many entries of JAX, and small files as those of Triton.
type madeCache struct {
	what           string
	entries, small int
	restores       int // the median counts
}

const cacheEntrySize, cacheSmallSize = 1 << 20, 10_000

// cache: KINETIC_CACHE_DIR into a bucket and back, compared with rclone.
func (b *bench) cache(ctx context.Context) error {
	d := &dataBench{bench: b}
	return d.besideRclone(ctx, "a cache to a bucket and back", func() error {
		for _, made := range []madeCache{{"100 MB", 90, 1000, 3}, {"2 GB", 1900, 5000, 1}} {
			if err := d.cacheOf(ctx, made); err != nil {
				return err
			}
		}
		return nil
	})
}

// cacheOf measures one cache.
func (d *dataBench) cacheOf(ctx context.Context, made madeCache) error {
	name := "cache-" + made.what
	if err := errors.Join(d.makeTree(name+"/jax", made.entries, cacheEntrySize), d.makeTree(name+"/triton", made.small, cacheSmallSize)); err != nil {
		return err
	}
	ours, err := d.bucket(ctx)
	if err != nil {
		return err
	}
	theirs, err := d.bucket(ctx)
	if err != nil {
		return err
	}
	script, err := filepath.Abs("hack/bench/cache.py")
	if err != nil {
		return err
	}
	from, down := filepath.Join(d.dir, "data", name), filepath.Join(d.dir, "down")
	env, remote := append(os.Environ(), d.home...), d.remote(theirs)
	python := func(what, dir string) func() *exec.Cmd {
		return command(ctx, d.dir, env, "python3", script, what, dir, "gs://"+ours, d.url)
	}
	for _, step := range []struct {
		what, aim    string
		runs         int
		ours, theirs func() *exec.Cmd
	}{
		{"saved", ">= 1.5x", 1, python("save", from), d.rclone(ctx, env, from, remote)},
		{"restored", ">= 0.7x", made.restores, python("restore", filepath.Join(down, "ours")), d.rclone(ctx, env, remote, filepath.Join(down, "rclone"))},
	} {
		mine, other, err := alternately(step.runs, down, step.ours, step.theirs)
		if err != nil {
			return err
		}
		d.row("cache: "+made.what+" "+step.what+" / rclone", ms(mine), ms(other), fmt.Sprintf("%.1fx faster", other.wall.Seconds()/mine.wall.Seconds()), step.aim)
	}
	return nil
}
