package wheel

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

//go:embed compile.py
var compileProgram string

// Compiler makes bytecode with an interpreter of this machine.
type Compiler struct {
	// Python is the interpreter. It must be CPython of the layout's X.Y, since other
	// versions have other bytecode.
	Python string

	// Patience is how long the interpreter may take to start, and for each module; one
	// minute if it is 0.
	Patience time.Duration
}

// The limits of what is compiled. A larger module is left to the interpreter in the image.
const (
	maxSource   = 8 << 20
	maxBytecode = 64 << 20
)

// Compile returns the wheel with the bytecode of its modules, which import faster then.
// Modules with syntax errors and those whose bytecode the wheel brings are left as they are.
// Nothing of the wheel is executed. The bytecode is kept in memory; it is about as large as
// the modules. Different builds of one version of Python may give different bytes.
//
// If the interpreter cannot be used, the error is an *InterpreterError.
func (c Compiler) Compile(ctx context.Context, w *Wheel) (*Wheel, error) {
	sources := w.sources()
	if len(sources) == 0 {
		return w, nil
	}
	bytecode, err := c.run(ctx, w, sources)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", w.Name.File, err)
	}
	compiled := *w
	compiled.files = append(slices.Clone(w.files), bytecode...)
	slices.SortFunc(compiled.files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	if err := checkFolders(compiled.files); err != nil {
		return nil, err
	}
	return &compiled, nil
}

// InterpreterError says that an interpreter can make no bytecode for a layout.
type InterpreterError struct {
	Python string // the interpreter
	Needed string // the version of Python that is needed, "3.12"
	Err    error
}

// Error names the interpreter, the reason and what helps.
func (e *InterpreterError) Error() string {
	return fmt.Sprintf("%s: %v; use CPython %s, or make layers without bytecode", e.Python, e.Err, e.Needed)
}

// Unwrap returns the reason.
func (e *InterpreterError) Unwrap() error { return e.Err }

func (c Compiler) run(ctx context.Context, w *Wheel, sources []*file) (bytecode []file, err error) {
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	patience := cmp.Or(c.Patience, time.Minute)
	hung := fmt.Errorf("it gave no answer for %s", patience)
	watchdog := time.AfterFunc(patience, func() { kill(hung) })
	defer watchdog.Stop()
	heard := func() { watchdog.Reset(patience) }
	said, errs := &answers{most: maxBytecode, heard: heard}, &answers{most: maxSource, heard: heard}
	for _, source := range sources {
		said.most += 16 * source.size
	}
	// Isolated and without site: neither variables nor packages of the user have an effect.
	cmd := exec.CommandContext(ctx, c.Python, "-I", "-S", "-c", compileProgram, w.layout.greeting())
	cmd.Stdout, cmd.Stderr = said, errs
	cmd.WaitDelay = time.Second // for a child of it that keeps its pipes open
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		fed := make(chan error, 1)
		go func() { fed <- feed(in, sources) }()
		failed := cmd.Wait()
		if wrong := new(memberError); errors.As(<-fed, &wrong) {
			return nil, advise(wrong)
		}
		bytecode, err = said.bytecode(w, sources)
		if failed != nil && (err == nil || errors.Is(err, errEnded)) {
			lines := strings.Split(strings.TrimSpace(string(errs.text)), "\n")
			err = fmt.Errorf("%w (%w): %s", cmp.Or(err, errEnded), failed, strings.TrimSpace(lines[len(lines)-1]))
		}
	}
	if errors.Is(context.Cause(ctx), hung) {
		err = hung
	}
	if err != nil {
		return nil, &InterpreterError{Python: c.Python, Needed: w.layout.Python, Err: err}
	}
	return bytecode, nil
}

// answers are what the interpreter writes, at most so many bytes.
type answers struct {
	text  []byte
	most  int64
	heard func() // it does not hang
}

func (a *answers) Write(b []byte) (int, error) {
	a.heard()
	if int64(len(a.text)+len(b)) > a.most {
		return 0, errors.New("it writes too much")
	}
	a.text = append(a.text, b...)
	return len(b), nil
}

// errEnded says that the process closed its output, so that its own words matter more.
var errEnded = errors.New("it ended too early")

// bytecode returns the bytecode of modules, without those that can't be compiled.
func (a *answers) bytecode(w *Wheel, sources []*file) (all []file, err error) {
	greeting, rest, whole := bytes.Cut(a.text, []byte("\n"))
	switch is, ours := strings.CutPrefix(string(greeting), "kinetic-compile "); {
	case len(a.text) == 0:
		return nil, errEnded
	case !whole || !ours:
		return nil, errors.New("it does not respond like Python")
	case is != w.layout.greeting():
		return nil, fmt.Errorf("it is %s, and bytecode of %s is needed", is, w.layout.greeting())
	}
	for _, source := range sources {
		if len(rest) < 4 || uint64(len(rest)) < 4+uint64(binary.LittleEndian.Uint32(rest)) {
			return nil, fmt.Errorf("compile %q: %w", source.member.Name, errEnded)
		}
		end := 4 + binary.LittleEndian.Uint32(rest)
		if end > 4 {
			f := textFile(w.layout.bytecode(source.name), rest[4:end])
			f.source, f.wheel = source.name, w.Name.File
			all = append(all, f)
		}
		rest = rest[end:]
	}
	return all, nil
}

// A memberError is the wheel's fault, not the interpreter's.
type memberError struct {
	member string
	err    error
}

func (e *memberError) Error() string { return fmt.Sprintf("%q: %v", e.member, e.err) }
func (e *memberError) Unwrap() error { return e.err }

func (w *Wheel) sources() []*file {
	var sources []*file
	taken := map[string]bool{}
	for i := range w.files {
		taken[w.files[i].name] = true
	}
	for i := range w.files {
		f := &w.files[i]
		if strings.HasPrefix(f.name, w.layout.site()+"/") && strings.HasSuffix(f.name, ".py") && f.size <= maxSource &&
			f.whole() && !taken[w.layout.bytecode(f.name)] && w.layout.checkPlace(w.layout.bytecode(f.name)) == nil {
			sources = append(sources, f)
		}
	}
	return sources
}

// bytecode returns the place of a module's bytecode (PEP 3147).
func (l Layout) bytecode(module string) string {
	slash := strings.LastIndexByte(module, '/') + 1
	return module[:slash] + "__pycache__/" + strings.TrimSuffix(module[slash:], ".py") + "." + l.cacheTag() + ".pyc"
}

func (l Layout) cacheTag() string { return "cpython-" + strings.Replace(l.Python, ".", "", 1) }

// greeting is how an interpreter for the layout presents itself.
func (l Layout) greeting() string { return l.cacheTag() + " " + l.Python + " final" }

// feed sends modules to the interpreter, and closes its input.
func feed(in io.WriteCloser, sources []*file) error {
	defer in.Close()
	inflater := newInflater(never)
	out := bufio.NewWriterSize(in, 64<<10)
	for _, source := range sources {
		text, err := inflater.readAll(source.member, maxSource)
		if err != nil {
			return &memberError{source.member.Name, err}
		}
		path := "/" + source.name
		lengths := binary.LittleEndian.AppendUint32(nil, uint32(len(path)))
		lengths = binary.LittleEndian.AppendUint32(lengths, uint32(len(text)))
		for _, part := range [][]byte{lengths, []byte(path), text} {
			if _, err := out.Write(part); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}
