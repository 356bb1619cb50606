//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// uploadSize is eight of the pieces in which large objects are sent. The emulator copies
// the whole object so far for each piece, so much larger files would mostly measure that.
const uploadSize = 128 << 20

// upload: a large file that can't be compressed, from the project to the store.
func (c *cluster) upload(ctx context.Context) error {
	if err := c.write("upload/f.py", functions); err != nil {
		return err
	}
	file := filepath.Join(c.dir, "upload", "weights.bin")
	n := 0
	ours := func() *exec.Cmd {
		n++
		// The store is emptied because existing data isn't sent again. If the file can't be
		// written, the command takes no time, which is obvious in the result.
		_ = c.empty(ctx)
		_ = fill(file, uploadSize)
		return command(ctx, filepath.Join(c.dir, "upload"), c.env, filepath.Join(c.bin, "kubectl-kinetic"),
			"run", "f.py:nothing", "-a", nowhere, "--detach", "--job-id", fmt.Sprintf("upload-%d", n))()
	}
	curl := func() *exec.Cmd {
		_ = c.empty(ctx)
		return exec.CommandContext(ctx, "curl", "-sSf", "-o", os.DevNull, "-X", "POST", "-T", file,
			c.storage+"/upload/storage/v1/b/"+c.bucket+"/o?uploadType=media&name=curl")
	}
	own, plain, err := pair(2, ours, curl)
	if err != nil {
		return err
	}
	c.row(fmt.Sprintf("upload of a bundle with a file of %s / curl", mb(uploadSize)), speed(own), speed(plain), fmt.Sprintf("%.2fx", plain.wall.Seconds()/own.wall.Seconds()), "")
	c.row("memory for that", mb(own.rss), "", "", "constant")
	return nil
}

func speed(s sample) string { return mb(int64(uploadSize/s.wall.Seconds())) + "/s" }

// fill writes a file of random bytes.
func fill(path string, size int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	buf := make([]byte, 1<<20)
	for range size / len(buf) {
		if _, err := rand.Read(buf); err != nil {
			return err
		}
		if _, err := file.Write(buf); err != nil {
			return err
		}
	}
	return file.Close()
}
