package gcsfuse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// message is what the sidecar receives together with the FUSE device.
type message struct {
	Bucket  string
	Options []string
}

// mount mounts a file system that nobody serves yet, and offers its FUSE device to the
// sidecar until that takes it or the offer is closed.
func mount(v volume, bucket string, options options, storage string) (io.Closer, error) {
	for _, dir := range []string{v.target, v.exchange()} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return nil, err
		}
	}
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	l, err := meet(v.exchange())
	if err != nil {
		_ = device.Close()
		return nil, err
	}
	flags := uintptr(unix.MS_NODEV | unix.MS_NOSUID)
	if options.readOnly {
		flags |= unix.MS_RDONLY
	}
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions", device.Fd())
	if err := unix.Mount(bucket, v.target, "fuse", flags, data); err != nil {
		_, _ = l.Close(), device.Close()
		return nil, err
	}
	m := message{bucket, append(options.list, emulator(storage)...)}
	go func() {
		defer device.Close()
		defer l.Close()
		if err := m.send(l, device); err != nil && !errors.Is(err, net.ErrClosed) {
			log.Printf("%s: %v", v.target, err)
		}
	}()
	return l, nil
}

// emulator returns the options with which gcsfuse uses the emulator. That has no folders
// and can't move objects.
func emulator(url string) []string {
	return []string{"anonymous-access", "custom-endpoint=" + url + "/storage/v1/", "enable-hns=false", "enable-atomic-rename-object=false"}
}

// meet listens in the exchange folder, which it gives to the sidecar. It makes the socket
// by the number of the folder, since the path of a socket has at most 107 characters.
func meet(folder string) (*net.UnixListener, error) {
	for _, left := range []string{"socket", "error"} { // by an earlier mount
		if err := os.RemoveAll(filepath.Join(folder, left)); err != nil {
			return nil, err
		}
	}
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/socket", dir.Fd())})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the number will be another file's
	for _, path := range []string{filepath.Dir(folder), folder, filepath.Join(folder, "socket")} {
		if err := os.Lchown(path, nobody, nobody); err != nil {
			_ = l.Close()
			return nil, err
		}
	}
	return l, nil
}

// send waits for the sidecar and gives it the device.
func (m message) send(l *net.UnixListener, device *os.File) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c, err := l.AcceptUnix()
	if err != nil {
		return err
	}
	defer c.Close()
	_, _, err = c.WriteMsgUnix(text, unix.UnixRights(int(device.Fd())), nil)
	return err
}
