package accelerator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Options are what an accelerator's text leaves open.
type Options struct {
	// Spot asks for spot capacity, as a text that ends with :spot does.
	Spot bool
	// Backend decides between shapes that exist on one host and on several (v5e and v6e
	// 2x4): several with one that is a set, one with any other backend.
	Backend api.Backend
}

const spotSuffix = ":spot"

// Parse reads an accelerator as a user typed it. Case and surrounding blanks don't matter:
//
//	cpu, cpu:8             no accelerator; the number has no meaning
//	l4, l4x2, l4:2         a GPU, two of them; GKE's label is a name too
//	v6e, v6e-8, v6e-2x4    a TPU: its usual slice, so many chips, that topology
//	gpu-l4, tpu:v6e-8      any of these with its kind before it
//	gpu, tpu, gpu:4, 8     what shorthands.txt says
//	…:spot                 the same on spot capacity
//
// Numbers count chips in every generation. An error quotes the text, says what is wrong
// with it and names the nearest valid values.
func Parse(text string, o Options) (api.Accelerator, error) {
	r, err := readRequest(text)
	if err != nil {
		return api.Accelerator{}, fmt.Errorf("accelerator %q: %w", text, err)
	}
	r.spot = r.spot || o.Spot
	r.several = o.Backend.IsLeaderWorkerSet()
	if r.isCPU() {
		shape := CPU()
		shape.Spot = r.spot
		return shape, nil
	}
	s, err := builtin().resolve(r)
	if err != nil {
		return api.Accelerator{}, fmt.Errorf("accelerator %q: %w", text, err)
	}
	return s.accelerator(r.spot), nil
}

type request struct {
	kind    api.AcceleratorKind // from the prefix, empty without one
	body    string              // the rest, in lower case
	spot    bool
	several bool // prefer several hosts where there is a choice
}

func readRequest(text string) (request, error) {
	var r request
	r.body, r.spot = strings.CutSuffix(strings.ToLower(strings.TrimSpace(text)), spotSuffix)
	if strings.HasSuffix(r.body, spotSuffix) {
		return r, errors.New("it ends with " + spotSuffix + " more than once; write it once")
	}
	for _, kind := range []api.AcceleratorKind{api.GPU, api.TPU} {
		for _, separator := range []string{"-", ":"} {
			if body, ok := strings.CutPrefix(r.body, string(kind)+separator); ok {
				r.kind, r.body = kind, body
				return r, r.checkName()
			}
		}
	}
	return r, r.checkName()
}

func (r request) checkName() error {
	if r.body == "" {
		return errors.New("it has no name: write one such as cpu, l4x2 or v6e-8")
	}
	return nil
}

// isCPU reports whether the text is cpu, or cpu: and a number, which has no meaning.
func (r request) isCPU() bool {
	count, counted := strings.CutPrefix(r.body, "cpu:")
	_, isNumber := number(count)
	return r.kind == "" && (r.body == string(api.CPU) || counted && isNumber)
}

// allows reports whether the prefix, if any, is that kind.
func (r request) allows(kind api.AcceleratorKind) bool { return r.kind == "" || r.kind == kind }

// resolve finds the shape that a request means. The request must not be for cpu.
func (c *catalogue) resolve(r request) (shape, error) {
	n, isNumber := number(r.body)
	if isNumber {
		full, ok := c.bareCount(r, n)
		if !ok {
			return shape{}, c.noBareCount(r, n)
		}
		r.body = full
	} else if full, ok := c.shorthands[r.body]; ok && r.kind == "" {
		r.body = full
	}
	s, err := c.lookup(r)
	if err == nil {
		return s, nil
	}
	if wrong := c.wrongSuffix(r); wrong != nil {
		return shape{}, wrong
	}
	if errors.Is(err, errNoMatch) {
		return shape{}, c.explain(r)
	}
	return shape{}, err
}

// bareCount returns the full text that a number without a name stands for, a GPU before a
// TPU.
func (c *catalogue) bareCount(r request, n int) (string, bool) {
	for _, kind := range []api.AcceleratorKind{api.GPU, api.TPU} {
		full, ok := c.shorthands[fmt.Sprintf("%s:%d", kind, n)]
		if ok && r.allows(kind) {
			return full, true
		}
	}
	return "", false
}

// errNoMatch means that a text has none of the forms of the grammar.
var errNoMatch = errors.New("no match")

// lookup finds a name with or without a count or topology.
func (c *catalogue) lookup(r request) (shape, error) {
	if f := c.byName[r.body]; f != nil && r.allows(f.kind) {
		s, _ := f.withTopology(f.standard, r.several)
		return s, nil
	}
	for _, separator := range []string{"x", ":"} {
		if f, count := c.split(r, separator, api.GPU); f != nil {
			if n, ok := number(count); ok {
				return f.count(n, r)
			}
		}
	}
	f, rest := c.split(r, "-", api.TPU)
	if f == nil {
		return shape{}, errNoMatch
	}
	if n, ok := number(rest); ok {
		return f.count(n, r)
	}
	if t, ok := parseTopology(rest); ok {
		return f.shaped(t, rest, r)
	}
	return shape{}, fmt.Errorf("%q is neither a number of chips nor a topology; write %s or %s-%s",
		rest, f.spell(f.standard.chips()), f.name, f.standard)
}

// split cuts the body at the last separator, if a name of that kind is before it.
func (c *catalogue) split(r request, separator string, kind api.AcceleratorKind) (*family, string) {
	i := strings.LastIndex(r.body, separator)
	if i < 0 || !r.allows(kind) {
		return nil, ""
	}
	f := c.byName[r.body[:i]]
	if f == nil || f.kind != kind {
		return nil, ""
	}
	return f, r.body[i+len(separator):]
}

func (f *family) count(n int, r request) (shape, error) {
	if s, ok := f.withChips(n, r.several); ok {
		return s, nil
	}
	return shape{}, f.noCount(n)
}

// shaped finds a topology by its text: GKE's labels know 2x4, not 4x2 or 02x4.
func (f *family) shaped(t topology, text string, r request) (shape, error) {
	if s, ok := f.withTopology(t, r.several); ok && t.String() == text {
		return s, nil
	}
	return shape{}, f.noTopology(t, text)
}
