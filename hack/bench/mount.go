//go:build unix

package main

import (
	"bytes"
	"context"
	"net/http"
	"time"
)

// mount: the time from the return of a function that reads a mounted bucket to the exit of run,
// which the sidecar outlives by seconds.
func (c *cluster) mount(ctx context.Context) error {
	object := c.storage + "/upload/storage/v1/b/" + c.bucket + "/o?uploadType=media&name=mounted/a.txt"
	if err := request(ctx, http.DefaultClient, http.MethodPost, object, "text", nil); err != nil {
		return err
	}
	var after, all []sample
	for range slowRuns {
		run := c.ours(ctx, "run", "f.py:read", "--data", "folder=gs://"+c.bucket+"/mounted,fuse", "--cpu", "100m")()
		var printed bytes.Buffer
		run.Stdout = &printed
		whole, err := once(run)
		if err != nil {
			return err
		}
		ended := time.Now()
		returned, err := lastTime(printed.String())
		if err != nil {
			return err
		}
		after, all = append(after, sample{wall: ended.Sub(returned)}), append(all, whole)
	}
	c.row("run ends, after a function that reads a mounted bucket has returned", ms(median(after)), "", ms(median(all))+" in all", "<= 1000 ms")
	return nil
}
