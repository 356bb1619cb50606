package call

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	// Version is the newest version of the header that this code reads.
	Version = 1
	// defaultName is the name of a function that no header names.
	defaultName = "payload"
	// protocol begins a pickle of protocol 2 or later, and stop ends it.
	protocol, stop = 0x80, '.'
	// maxProtocol is the newest protocol that Python 3.9 reads.
	maxProtocol = 5
)

// Payload is a payload whose header was checked.
type Payload struct {
	api.Payload
	// Path is the file that it was read from.
	Path string
	// Function is the name of the function, for people. Arguments are those of the call; nil if the header has none.
	Function  string
	Arguments []Argument
}

// Argument is one of a pickled call, for people.
type Argument struct {
	Name string `json:"name"`
	// Value is JSON, empty if the header does not have it.
	Value json.RawMessage `json:"value"`
}

// header is the first line of a payload. Other members are ignored.
type header struct {
	Version   int               `json:"kinetic_payload"`
	Python    string            `json:"python"`
	Function  string            `json:"function"`
	Arguments []Argument        `json:"arguments"`
	Modules   map[string]string `json:"modules"`
}

// Read checks the header of a payload and hashes the file. Its errors are mistakes in the
// file, and don't name it.
func Read(path string) (Payload, error) {
	p := Payload{Path: path, Function: defaultName}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return p, withoutPath(err)
	case !info.Mode().IsRegular(): // it is read a second time, for the upload
		return p, errors.New("not a regular file")
	case info.Size() == 0:
		return p, errors.New("the file is empty")
	}
	file, err := os.Open(path)
	if err != nil {
		return p, withoutPath(err)
	}
	defer file.Close()
	hash := sha256.New()
	if err := p.read(io.TeeReader(file, hash)); err != nil {
		return p, withoutPath(err)
	}
	p.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if p.Size, err = file.Seek(0, io.SeekCurrent); err != nil { // all was read
		return p, withoutPath(err)
	}
	var end [1]byte
	if _, err := file.ReadAt(end[:], p.Size-1); err != nil {
		return p, withoutPath(err)
	}
	if end[0] != stop {
		return p, errors.New("not a payload: its pickle is cut off")
	}
	return p, nil
}

// withoutPath returns the cause of an error about a file that the caller names.
func withoutPath(err error) error {
	if named, ok := errors.AsType[*os.PathError](err); ok {
		return named.Err
	}
	return err
}

func (p *Payload) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	first, err := in.Peek(1)
	if err != nil {
		return err
	}
	switch first[0] {
	case protocol:
	case '{':
		if err := p.readHeader(in); err != nil {
			return err
		}
	default:
		return errors.New("not a payload: it begins with neither a header nor a pickle")
	}
	return checkPickle(in)
}

// readHeader reads the first line.
func (p *Payload) readHeader(in *bufio.Reader) error {
	line, err := readLine(in)
	if err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("not a payload: its first line is not the JSON of a header: %w", err)
	}
	if err := h.check(); err != nil {
		return err
	}
	p.Python, p.Arguments = minor(h.Python), h.Arguments
	if h.Function != "" {
		p.Function = h.Function
	}
	return nil
}

// readLine reads a line that is no longer than a header may be, and returns it without its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > api.Contract.Limits.PayloadHeader:
			return nil, fmt.Errorf("the header takes more than %d KiB", api.Contract.Limits.PayloadHeader>>10)
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("not a payload: it has a header and no pickle")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

const version = `^(3\.[0-9]{1,3})(\.[0-9A-Za-z.+-]{1,40})?$`

// minor returns a version of Python as X.Y, "" if it is none.
func minor(text string) string {
	if m := lazyregexp.Of(version).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func (h header) check() error {
	switch {
	case h.Version == 0:
		return errors.New(`not a payload: its header has no version ("kinetic_payload")`)
	case h.Version > Version:
		return fmt.Errorf("its header has version %d, but this kubectl kinetic reads only up to %d: upgrade kubectl kinetic", h.Version, Version)
	case h.Version < 0:
		return fmt.Errorf("not a payload: its header has version %d", h.Version)
	case minor(h.Python) == "":
		return fmt.Errorf("its header names no version of Python 3: %q", h.Python)
	}
	for name := range h.Modules {
		if err := checkModule(name); err != nil {
			return fmt.Errorf("its header has the module %q: %w", name, err)
		}
	}
	return nil
}

// checkModule rejects the path of a module that would be written elsewhere, or is not one of
// Python's.
func checkModule(name string) error {
	for element := range strings.SplitSeq(name, "/") {
		if element == "" || element == "." || element == ".." || strings.ContainsAny(element, "\\:\x00") {
			return errors.New("expected a relative path with forward slashes that leads nowhere else")
		}
	}
	if !strings.HasSuffix(name, ".py") {
		return errors.New("expected a file that ends in .py")
	}
	return nil
}

// checkPickle checks how the pickle begins, and reads to its end.
func checkPickle(in *bufio.Reader) error {
	first, err := in.Peek(2)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case len(first) == 0:
		return errors.New("not a payload: it has a header and no pickle")
	case first[0] != protocol:
		return errors.New("not a payload: no pickle of protocol 2 or later follows its header")
	case len(first) > 1 && first[1] > maxProtocol:
		return fmt.Errorf("its pickle has protocol %d: expected %d or less", first[1], maxProtocol)
	}
	_, err = io.Copy(struct{ io.Writer }{io.Discard}, in) // in pieces of the size of in
	return err
}

// Open opens the payload for its upload. progress is called with how many more bytes were
// read, a negative number if an upload starts over.
func (p Payload) Open(progress func(more int64)) func() (io.ReadCloser, error) {
	var read int64
	return func() (io.ReadCloser, error) {
		file, err := os.Open(p.Path)
		if err != nil {
			return nil, err
		}
		progress(-read)
		read = 0
		return &meter{file, func(n int) {
			read += int64(n)
			progress(int64(n))
		}}, nil
	}
}

// meter counts the bytes that are read.
type meter struct {
	io.ReadCloser
	count func(n int)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.count(n)
	return n, err
}
