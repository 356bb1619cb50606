package wheel

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// An interpreter is a process that compiles.
type interpreter struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	errs     platform.Tail
	kill     context.CancelFunc
	patience time.Duration
	watchdog *time.Timer
	hung     atomic.Bool
}

func startInterpreter(ctx context.Context, python string, patience time.Duration) (*interpreter, error) {
	ctx, kill := context.WithCancel(ctx)
	p := &interpreter{kill: kill, patience: patience}
	// Isolated and without site: neither variables nor packages of the user have an effect.
	p.cmd = exec.CommandContext(ctx, python, "-I", "-S", "-c", compileProgram)
	p.cmd.Stderr = &p.errs
	p.cmd.WaitDelay = time.Second // for a child of it that keeps its pipes open
	out, w, err := os.Pipe()
	if err != nil {
		kill()
		return nil, err
	}
	defer w.Close()
	p.cmd.Stdout, p.out = w, bufio.NewReaderSize(out, 64<<10)
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		kill()
		return nil, errors.Join(err, out.Close())
	}
	// Its children may still have the other end.
	context.AfterFunc(ctx, func() { _ = out.Close() })
	p.watchdog = time.AfterFunc(patience, func() {
		p.hung.Store(true)
		kill()
	})
	return p, nil
}

func (p *interpreter) greet(l Layout) error {
	line, err := p.out.ReadSlice('\n')
	var tag, version, level string
	if err == nil {
		_, err = fmt.Sscanf(string(line), "kinetic-compile %s %s %s\n", &tag, &version, &level)
	}
	switch {
	case errors.Is(err, io.EOF):
		return errEnded
	case err != nil:
		return fmt.Errorf("it does not respond like Python: %w", err)
	case version != l.Python:
		return fmt.Errorf("it is Python %s, and bytecode of %s is needed", version, l.Python)
	case tag != l.cacheTag():
		return fmt.Errorf("it is not CPython: its bytecode is of %s", tag)
	case level != "final":
		return fmt.Errorf("it is a test release (%s), whose bytecode may differ", level)
	}
	p.watchdog.Reset(p.patience)
	return nil
}

// answer reads the bytecode of one module, nothing if it cannot be compiled.
func (p *interpreter) answer() ([]byte, error) {
	var length uint32
	if err := binary.Read(p.out, binary.LittleEndian, &length); err != nil {
		return nil, ended(err)
	}
	if length > maxBytecode {
		return nil, fmt.Errorf("it answers with %d bytes", length)
	}
	bytecode := make([]byte, length)
	if _, err := io.ReadFull(p.out, bytecode); err != nil {
		return nil, ended(err)
	}
	p.watchdog.Reset(p.patience)
	return bytecode, nil
}

// errEnded says that the process closed its output, so that its own words matter more.
var errEnded = errors.New("it ended too early")

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errEnded
	}
	return err
}

// end waits for the end of the process, which is killed if there was an error. It returns why
// the process failed, or else the error.
func (p *interpreter) end(err error) error {
	if err != nil && !errors.Is(err, errEnded) {
		p.kill()
	}
	_ = p.in.Close() // feed may have done it
	failed := p.cmd.Wait()
	p.watchdog.Stop()
	p.kill()
	switch {
	case p.hung.Load():
		return fmt.Errorf("it gave no answer for %s", p.patience)
	case errors.Is(err, errEnded) && failed != nil:
		return fmt.Errorf("%w (%w): %s", err, failed, platform.LastLines(p.errs.String(), 1))
	case err != nil:
		return err
	case failed != nil:
		return fmt.Errorf("%w: %s", failed, platform.LastLines(p.errs.String(), 1))
	}
	return nil
}
