package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/runner"
)

const (
	// scratchPrefix begins the names of directories that are not yet jobs, or no longer.
	// None of them is needed for longer than scratchAge.
	scratchPrefix = ".scratch-"
	scratchAge    = time.Hour
	// runnerGrace is how long the runner waits for the call after SIGTERM, as in a pod.
	runnerGrace = 25 * time.Second
)

// Start starts a job and returns once its process exists. The process has the environment
// of this one, then spec.Env, then secrets, whose values are stored nowhere; it survives
// the terminal. If a job with this id exists already, the error is fs.ErrExist. A start
// that fails leaves nothing behind.
func (m *Machine) Start(ctx context.Context, spec api.Spec, secrets map[string]string) error {
	gate, err := m.start(ctx, spec, secrets)
	if err != nil {
		return fmt.Errorf("starting local job %s: %w", spec.ID, err)
	}
	// If the interpreter is already gone, watchers of the job find out why.
	_, _ = gate.Write([]byte{'\n'})
	_ = gate.Close()
	return nil
}

// StartAttached is Start for a job that ends when this process does, however that happens.
func (m *Machine) StartAttached(ctx context.Context, spec api.Spec, secrets map[string]string) (*Attachment, error) {
	gate, err := m.start(ctx, spec, secrets)
	if err != nil {
		return nil, fmt.Errorf("starting local job %s: %w", spec.ID, err)
	}
	_, _ = gate.Write([]byte{'a'})
	return &Attachment{gate}, nil
}

// Attachment ends a job when it is garbage, as it is when this process ends.
type Attachment struct{ gate io.WriteCloser }

// DropGrace is how long the runner needs at most to end a job after Drop: 1.5 seconds for the
// call, and the rest to save what it left.
const DropGrace = 4500 * time.Millisecond

// Drop ends the job within DropGrace.
func (a *Attachment) Drop() { _ = a.gate.Close() }

// LetGo lets the job go on without this process, if it has not ended.
func (a *Attachment) LetGo() {
	_, _ = a.gate.Write([]byte{'\n'})
	_ = a.gate.Close()
}

// start starts a job whose process waits for a byte from the pipe that is returned.
func (m *Machine) start(ctx context.Context, spec api.Spec, secrets map[string]string) (io.WriteCloser, error) {
	if err := errors.Join(Supported(), store.CheckID(spec.ID), ctx.Err()); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(m.dir(spec.ID)); err == nil {
		return nil, fmt.Errorf("%s: %w", m.dir(spec.ID), fs.ErrExist)
	}
	env, err := m.environment(spec, secrets)
	if err != nil {
		return nil, err
	}
	arguments, err := m.arguments(spec, env)
	if err != nil {
		return nil, err
	}
	python, err := m.python()
	if err != nil {
		return nil, err
	}
	program, err := m.install()
	if err != nil {
		return nil, err
	}
	m.sweep(program)
	scratch, err := os.MkdirTemp(m.config.StateDir, scratchPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch) // gone after success
	volumes := m.volumes(spec)
	cmd := exec.Command(python, slices.Concat(interpreterFlags(spec), []string{filepath.Join(program, bootFile)}, linkArguments(volumes),
		[]string{filepath.Join(program, runner.File)}, arguments)...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = env, m.config.StateDir, ownSession()
	if err := writeVolumes(scratch, volumes); err != nil {
		return nil, err
	}
	gate, err := m.launch(cmd, scratch, Record{Version: recordVersion, ID: spec.ID, Name: spec.Name, Accelerator: spec.AcceleratorText,
		Store: spec.Store, Created: spec.Created.UTC(), Runner: filepath.Base(program), Volumes: mounts(volumes)})
	if err != nil {
		return nil, err
	}
	if err := m.link(ctx, volumes); err != nil && m.config.Warn != nil {
		m.config.Warn(err)
	}
	return gate, nil
}

// launch starts the process, which waits for a byte on its standard input, makes the job
// visible, and returns the pipe for the byte.
func (m *Machine) launch(cmd *exec.Cmd, scratch string, r Record) (io.WriteCloser, error) {
	out, err := os.OpenFile(filepath.Join(scratch, outFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	gate, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := m.commit(cmd.Process.Pid, scratch, r); err != nil {
		_ = killSession(cmd.Process.Pid) // it would also end by itself, because the gate closes
		_ = cmd.Wait()
		return nil, err
	}
	go func() { _, _ = cmd.Process.Wait() }() // no zombie while this process runs; cmd.Wait would close the pipe
	return gate, nil
}

// commit fills the job's directory and renames it into place.
func (m *Machine) commit(pid int, scratch string, r Record) error {
	var err error
	if r.Process, err = newProcess(pid); err != nil {
		return err
	}
	if err := r.write(scratch); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(scratch, workDir), 0o700); err != nil {
		return err
	}
	return os.Rename(scratch, m.dir(r.ID)) // fails if another start was faster
}

// interpreterFlags returns the flags of the runner's own interpreter. It runs without
// site-packages, which can take long to set up, except with Cloud Storage, whose
// certificates may be in there.
func interpreterFlags(spec api.Spec) []string {
	if usesStorage(spec) {
		return []string{"-u"}
	}
	return []string{"-S", "-u"}
}

// arguments returns the runner's command line. env is the environment of the job.
func (m *Machine) arguments(spec api.Spec, env []string) ([]string, error) {
	dir := m.dir(spec.ID)
	args := []string{"--job", spec.ID, "--store", spec.Store, "--call", spec.CallSHA256, "--bundle", spec.BundleSHA256,
		"--grace", seconds(runnerGrace), "--final", "--work", filepath.Join(dir, workDir),
		"--log-file", filepath.Join(dir, logFile), "--termination-log", ""}
	if spec.Payload != nil {
		args = append(args, "--payload", spec.Payload.SHA256)
	}
	switch {
	case spec.Map != nil:
		args = slices.Concat(args, spec.RetryArguments(), spec.Map.Arguments())
	case spec.Processes != "":
		args = append(args, "--processes", spec.Processes)
	case spec.CallKind.Returns():
		args = append(args, "--function")
	}
	args = append(args, spec.OutputArguments()...)
	args = append(args, spec.Cache.Arguments()...)
	if spec.MaxRuntime > 0 {
		args = append(args, "--max-runtime", seconds(spec.MaxRuntime))
	}
	args = append(args, spec.HangArguments()...)
	if !usesStorage(spec) {
		return args, nil
	}
	storage, err := storageArguments(env, isOfGoogle())
	return append(args, storage...), err
}

// lookup returns the value of a variable, "" if it is not set. The last value counts.
func lookup(env []string, name string) string {
	value := ""
	for _, e := range env {
		if n, v, _ := strings.Cut(e, "="); n == name {
			value = v
		}
	}
	return value
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// environment returns the environment of the job. A local job is not a pod, even inside of
// one.
func (m *Machine) environment(spec api.Spec, secrets map[string]string) ([]string, error) {
	var env []string
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != api.EnvPodUID && name != api.EnvTPUHosts && name != platform.CallerPython {
			env = append(env, e)
		}
	}
	if spec.Debug {
		env = append(env, api.EnvDebug+"=1", api.EnvBreakpoint+"="+api.Breakpoint)
	}
	for _, e := range spec.Env {
		env = append(env, e.Name+"="+e.Value)
	}
	for i, v := range m.volumes(spec) {
		env = append(env, api.VolumeVariable(i)+"="+v.directory())
	}
	if spec.Map != nil {
		env = append(env, api.EnvCompletionIndex+"=0") // one process computes all inputs
	}
	for _, name := range spec.SecretEnv {
		if _, ok := secrets[name]; !ok {
			return nil, fmt.Errorf("the secret environment variable %s has no value", name)
		}
	}
	for name, value := range secrets {
		env = append(env, name+"="+value)
	}
	return env, nil // os/exec takes the last of each name
}

func (m *Machine) python() (string, error) {
	name := m.config.Python
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("looking for Python: %w: install Python 3.9 or newer, or activate a virtual environment that has it", err)
	}
	return filepath.Abs(path)
}
