package wheel

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

func (c Compiler) run(ctx context.Context, w *Wheel, sources []*file) ([]file, error) {
	var bytecode []file
	p, err := startInterpreter(ctx, c.Python, cmp.Or(c.Patience, time.Minute))
	if err == nil {
		bytecode, err = compileAll(p, w, sources)
		err = p.end(err)
	}
	if err == nil {
		return bytecode, nil
	}
	if wrong := new(memberError); errors.As(err, &wrong) {
		return nil, advise(err)
	}
	return nil, &InterpreterError{Python: c.Python, Needed: w.layout.Python, Err: err}
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

func compileAll(p *interpreter, w *Wheel, sources []*file) ([]file, error) {
	if err := p.greet(w.layout); err != nil {
		return nil, err
	}
	fed := make(chan error, 1)
	go func() { fed <- feed(p.in, sources) }()
	var all []file
	for _, source := range sources {
		bytecode, err := p.answer()
		if err != nil {
			_ = p.in.Close() // feed may be waiting
			if wrong := new(memberError); errors.As(<-fed, &wrong) {
				return nil, wrong
			}
			return nil, fmt.Errorf("compile %q: %w", source.member.Name, err)
		}
		if len(bytecode) > 0 {
			f := textFile(w.layout.bytecode(source.name), bytecode)
			f.source, f.wheel = source.name, w.Name.File
			all = append(all, f)
		}
	}
	return all, <-fed
}

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
