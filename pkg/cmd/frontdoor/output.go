package frontdoor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Answer is what a program printed, and its exit code.
type Answer struct {
	Stdout, Stderr string
	Code           int
}

// errInterrupted means that a signal ended this process's wait for a program.
var errInterrupted = errors.New("interrupted")

// drain limits the wait for the end of a program's standard error, which a program that it
// started may hold open.
const drain = 200 * time.Millisecond

// output runs a program until it exits. Where the system allows it, the program and those
// that it starts have no terminal, and all of them end with it: one that gets
// credentials would ask for a password on the line that is being typed, and read the rest of
// that line.
func output(path string, args []string) (Answer, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop() // the terminal's signals don't reach the program
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = drain
	separate(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return Answer{}, err
	}
	if err := cmd.Start(); err != nil {
		return Answer{}, err
	}
	stdout, readErr := io.ReadAll(pipe) // to the program's end
	endOthers(cmd)                      // before Wait, after which the id may be another process's
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return Answer{}, errInterrupted
	case readErr != nil:
		return Answer{}, readErr
	case err != nil && !errors.As(err, new(*exec.ExitError)) && !errors.Is(err, exec.ErrWaitDelay):
		return Answer{}, err
	}
	return Answer{string(stdout), stderr.String(), cmd.ProcessState.ExitCode()}, nil
}
