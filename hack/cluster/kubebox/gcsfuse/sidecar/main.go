// Command sidecar stands in for the sidecar that GKE adds to pods with Cloud Storage FUSE
// volumes. For each volume it receives a FUSE device from the driver on its node and runs
// gcsfuse on it, until it is told to end.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Folders of volumes that the webhook adds to the pod.
const (
	sockets = "/gcsfuse-tmp/.volumes/*/socket"
	buffers = "/gcsfuse-buffer"
	caches  = "/gcsfuse-cache"
)

// patience is how long gcsfuse may take to end. It waits for an unmount, which comes only
// after the end of this container: GKE's sidecar waits as long, too.
const patience = 5 * time.Second

func main() {
	told, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var running []*exec.Cmd
	var ends sync.WaitGroup
	paths, _ := filepath.Glob(sockets) // it is no bad pattern
	for _, path := range paths {
		v := volume(filepath.Dir(path))
		gcsfuse, err := v.start()
		if err != nil {
			fmt.Fprintln(v, err)
			continue
		}
		running = append(running, gcsfuse)
		ends.Go(func() {
			if err := gcsfuse.Wait(); told.Err() == nil {
				fmt.Fprintln(v, "gcsfuse exited with error:", err)
			}
		})
	}
	<-told.Done()
	for _, gcsfuse := range running {
		_ = gcsfuse.Process.Signal(syscall.SIGTERM) // it may have ended
	}
	time.AfterFunc(patience, func() {
		for _, gcsfuse := range running {
			_ = gcsfuse.Process.Kill()
		}
	})
	ends.Wait()
}

// volume is the folder of a volume in which the driver meets the sidecar.
type volume string

// Write implements io.Writer for errors. The driver reports what it finds in the file.
func (v volume) Write(text []byte) (int, error) {
	f, err := os.OpenFile(filepath.Join(string(v), "error"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return os.Stderr.Write(text)
	}
	defer f.Close()
	return io.MultiWriter(f, os.Stderr).Write(text)
}

// start runs gcsfuse for a volume.
func (v volume) start() (*exec.Cmd, error) {
	bucket, options, device, err := v.receive()
	if err != nil {
		return nil, err
	}
	defer device.Close() // otherwise the mount would wait for this process when gcsfuse ends
	name := filepath.Base(string(v))
	buffer := filepath.Join(buffers, name)
	if err := os.MkdirAll(buffer, 0o755); err != nil {
		return nil, err
	}
	config, flags, err := configure(options, filepath.Join(caches, name))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(string(v), "config.json") // JSON is YAML
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	args := append([]string{"--foreground", "--uid=0", "--gid=0", "--temp-dir=" + buffer, "--config-file=" + file}, flags...)
	gcsfuse := exec.Command("/gcsfuse", append(args, bucket, "/dev/fd/3")...)
	gcsfuse.ExtraFiles = []*os.File{device}
	gcsfuse.Stdout, gcsfuse.Stderr = os.Stdout, v
	return gcsfuse, gcsfuse.Start()
}

// receive returns what the driver sends.
func (v volume) receive() (bucket string, options []string, device *os.File, err error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: filepath.Join(string(v), "socket")})
	if err != nil {
		return "", nil, nil, err
	}
	defer c.Close()
	text, rights := make([]byte, 64<<10), make([]byte, syscall.CmsgSpace(4))
	n, control, _, _, err := c.ReadMsgUnix(text, rights)
	if err != nil {
		return "", nil, nil, err
	}
	var message struct {
		Bucket  string
		Options []string
	}
	if err := json.Unmarshal(text[:n], &message); err != nil {
		return "", nil, nil, fmt.Errorf("reading the driver's message: %w", err)
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:control])
	if err != nil || len(messages) != 1 {
		return "", nil, nil, fmt.Errorf("no device came for bucket %s: %w", message.Bucket, err)
	}
	numbers, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return "", nil, nil, err
	}
	return message.Bucket, message.Options, os.NewFile(uintptr(numbers[0]), "/dev/fuse"), nil
}

// configure divides mount options as GKE's sidecar does. With a colon and no equals sign
// they are places in gcsfuse's configuration file, otherwise flags.
func configure(options []string, cache string) (config []byte, flags []string, err error) {
	root := map[string]any{"logging": map[string]any{"file-path": "/dev/fd/1", "format": "json"}}
	for _, o := range options {
		if strings.Contains(o, "=") || !strings.Contains(o, ":") {
			flags = append(flags, "--"+o)
			continue
		}
		path := strings.Split(o, ":")
		last := len(path) - 1
		put(root, path[:last], path[last])
		if strings.HasPrefix(o, "file-cache:max-size-mb:") && path[last] != "0" {
			root["cache-dir"] = cache
		}
	}
	config, err = json.Marshal(root)
	return config, flags, err
}

// put sets a value, which may be a number or a boolean, at a path of keys.
func put(at map[string]any, path []string, text string) {
	for ; len(path) > 1; path = path[1:] {
		next, ok := at[path[0]].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[path[0]] = next
		}
		at = next
	}
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		value = text
	}
	at[path[0]] = value
}
