package jobs

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// terminal returns a terminal, and what is shown on it once that is closed.
func terminal(t *testing.T) (*os.File, func() string) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return to, func() string {
		_ = to.Close()
		shown, _ := io.ReadAll(screen) // its end is an error
		return strings.ReplaceAll(string(shown), "\r\n", "\n")
	}
}

// A part of the Pathways runtime, or the call, can't make the terminal do anything.
func TestLogsOfPartsOnATerminal(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const text, shown = "a\x1b]0;title\x07 \x1b[2Jb \x1b[31mred\x1b[0m\n", `a\x1b]0;title\x07 \x1b[2Jb ` + "\x1b[31mred\x1b[0m\n"
	j := &job.Job{Handle: api.Handle{JobID: "p1", Hosts: 1, Pathways: &api.Pathways{TPUHosts: 1}}, Store: s,
		Backend: speaking{jobtest.Backend{State: api.Running}, map[string]string{"call": text, "rm": text, "proxy": text, "worker-0": text}}}
	for name, tt := range map[string]struct {
		part string
		want string
	}{
		"one part":  {"rm", shown},
		"all parts": {"", "host-0 │ " + shown + "rm │ " + shown + "proxy │ " + shown + "worker-0 │ " + shown},
	} {
		to, printed := terminal(t)
		o := &logOptions{command: &command{streams: genericiooptions.IOStreams{In: to, Out: to, ErrOut: to}, clock: clocktesting.NewFakePassiveClock(api.Handle{}.CreatedAt)},
			index: noIndex, parts: true, part: tt.part}
		err := o.printLog(t.Context(), j)
		if got := printed(); err != nil || got != tt.want {
			t.Errorf("%s: %v, got %q, want %q", name, err, got, tt.want)
		}
	}
}
