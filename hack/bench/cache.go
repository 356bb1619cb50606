package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// What one made cache has: entries of JAX, and small files as those of Triton.
const (
	cacheEntries, cacheEntrySize = 90, 1 << 20
	cacheSmall, cacheSmallSize   = 1000, 10_000
)

// cache: KINETIC_CACHE_DIR of 100 MB into a bucket and back, compared with rclone.
func (b *bench) cache(ctx context.Context) (err error) {
	d := &dataBench{bench: b}
	if err := errors.Join(d.makeTree("cache/jax", cacheEntries, cacheEntrySize), d.makeTree("cache/triton", cacheSmall, cacheSmallSize)); err != nil {
		return err
	}
	if _, err := exec.LookPath("rclone"); err != nil {
		b.row("a cache to a bucket and back", "left out: rclone is missing: apt-get install rclone", "", "", "")
		return nil
	}
	if err := d.serve(ctx); err != nil {
		return err
	}
	defer func() { _ = errors.Join(d.server.Process.Kill(), d.server.Wait()) }()
	ours, err := d.bucket(ctx)
	if err != nil {
		return err
	}
	theirs, err := d.bucket(ctx)
	if err != nil {
		return err
	}
	from, down := filepath.Join(d.dir, "data", "cache"), filepath.Join(d.dir, "down")
	script, err := filepath.Abs("hack/bench/cache.py")
	if err != nil {
		return err
	}
	env, remote := append(os.Environ(), d.home...), fmt.Sprintf(":gcs,anonymous,endpoint=%q:%s", d.url+"/storage/v1/", theirs)
	python := func(what, dir string) func() *exec.Cmd {
		return command(ctx, d.dir, env, "python3", script, what, dir, "gs://"+ours, d.url)
	}
	rclone := func(from, to string) func() *exec.Cmd {
		return command(ctx, d.dir, env, "rclone", "--config", os.DevNull, "--transfers", "16", "--checkers", "16", "copy", from, to)
	}
	for _, step := range []struct {
		what, aim    string
		runs         int
		ours, theirs func() *exec.Cmd
	}{
		{"saved", ">= 1.5x", 1, python("save", from), rclone(from, remote)},
		{"restored", ">= 0.7x", 3, python("restore", filepath.Join(down, "ours")), rclone(remote, filepath.Join(down, "rclone"))},
	} {
		mine, other, err := alternately(step.runs, down, step.ours, step.theirs)
		if err != nil {
			return err
		}
		d.row("cache: 100 MB "+step.what+" / rclone", ms(mine), ms(other), fmt.Sprintf("%.1fx faster", other.wall.Seconds()/mine.wall.Seconds()), step.aim)
	}
	return nil
}
