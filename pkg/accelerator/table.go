package accelerator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// machine is one line of catalogue.txt, which explains the columns.
type machine struct {
	name       string
	kind       api.AcceleratorKind
	aliases    []string
	label      string
	typ        string
	arch       string
	perHost    int // chips
	cores      int
	cubes      int
	vcpu       span
	gib        span
	memory     int // of one chip, in GB
	network    Network
	price      *float64
	spotPrice  *float64
	region     string
	asOf       string
	topologies []topology
	standard   topology // the topology marked with *, nil if there is none
}

// columns is the number of columns of catalogue.txt.
const columns = 18

// readMachines reads the text of catalogue.txt; an error names the line.
func readMachines(text string) ([]machine, error) {
	var machines []machine
	for i, fields := range dataLines(text) {
		if len(fields) != columns {
			return nil, fmt.Errorf("line %d has %d columns, not %d", i, len(fields), columns)
		}
		c := cells{rest: fields}
		m := machine{
			name: c.text(), kind: api.AcceleratorKind(c.text()), aliases: c.list(), label: c.text(),
			typ: c.text(), arch: c.text(), perHost: c.int(), cores: c.int(), cubes: c.int(),
			vcpu: c.span(), gib: c.span(), memory: c.int(), network: Network(c.text()), price: c.price(), spotPrice: c.price(), region: c.text(), asOf: c.text(),
		}
		c.topologies(&m)
		if err := m.check(c.err); err != nil {
			return nil, fmt.Errorf("line %d: %w", i, err)
		}
		machines = append(machines, m)
	}
	return machines, nil
}

// check returns an error for a line that can't describe any slice.
func (m machine) check(err error) error {
	switch {
	case err != nil:
		return err
	case m.kind != api.GPU && m.kind != api.TPU:
		return fmt.Errorf("kind is %q, neither gpu nor tpu", m.kind)
	case m.perHost < 1 || m.cores < 1:
		return fmt.Errorf("a host of %s has no chips or no cores", m.name)
	case m.vcpu.least < 1 || m.gib.least < 1:
		return fmt.Errorf("a host of %s has no processors or no memory", m.name)
	case m.memory < 1:
		return fmt.Errorf("a chip of %s has no memory", m.name)
	case m.network != "" && !slices.Contains(networks(m.kind), m.network):
		return fmt.Errorf("%s has no network %q", m.kind, m.network)
	case (m.price != nil || m.spotPrice != nil) && (m.region == "" || m.asOf == ""):
		return fmt.Errorf("a price of %s has no region or no date", m.name)
	}
	for _, t := range m.topologies {
		if n := t.chips(); n == 0 || n%m.perHost != 0 || m.kind == api.GPU && n != m.perHost {
			return fmt.Errorf("%s can't be divided into hosts of %d chips", t, m.perHost)
		}
	}
	return nil
}

// readShorthands reads the text of shorthands.txt: from what users type to the full text.
func readShorthands(text string) (map[string]string, error) {
	full := map[string]string{}
	for i, fields := range dataLines(text) {
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d has %d columns, not 2", i, len(fields))
		}
		if _, twice := full[fields[0]]; twice {
			return nil, fmt.Errorf("line %d: %s is listed twice", i, fields[0])
		}
		full[fields[0]] = fields[1]
	}
	return full, nil
}

// dataLines yields the number and the fields of each line, except for empty lines and
// comments.
func dataLines(text string) func(yield func(int, []string) bool) {
	return func(yield func(int, []string) bool) {
		i := 0
		for line := range strings.Lines(text) {
			i++
			fields := strings.Fields(line)
			if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
				continue
			}
			if !yield(i, fields) {
				return
			}
		}
	}
}

// cells reads the fields of one line from left to right, where "-" is empty, and keeps the
// first error.
type cells struct {
	rest []string
	err  error
}

func (c *cells) text() string {
	cell := c.rest[0]
	c.rest = c.rest[1:]
	if cell == "-" {
		return ""
	}
	return cell
}

func (c *cells) list() []string {
	cell := c.text()
	if cell == "" {
		return nil
	}
	return strings.Split(cell, ",")
}

func (c *cells) int() int {
	cell := c.text()
	if cell == "" {
		return 0
	}
	n, ok := number(cell)
	if !ok {
		c.fail("%q is not a number", cell)
	}
	return n
}

// span reads "44", or a range such as "4-32".
func (c *cells) span() span {
	cell := c.text()
	first, last, several := strings.Cut(cell, "-")
	if !several {
		last = first
	}
	least, ok := number(first)
	most, okToo := number(last)
	if cell != "" && (!ok || !okToo || least > most) {
		c.fail("%q is neither a number nor a range such as 1-4", cell)
	}
	return span{least, most}
}

func (c *cells) price() *float64 {
	cell := c.text()
	if cell == "" {
		return nil
	}
	usd, err := strconv.ParseFloat(cell, 64)
	if err != nil || !(usd > 0) {
		c.fail("%q is not a price", cell)
	}
	return &usd
}

func (c *cells) topologies(m *machine) {
	for _, text := range c.list() {
		text, marked := strings.CutSuffix(text, "*")
		t, ok := parseTopology(text)
		if !ok {
			c.fail("%q is not a topology", text)
		}
		if marked {
			m.standard = t
		}
		m.topologies = append(m.topologies, t)
	}
	if len(m.topologies) == 0 {
		c.fail("%s has no shape", m.name)
	}
}

func (c *cells) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// names returns all names of a line's accelerator, the canonical name first.
func (m machine) names() []string {
	names := slices.Concat([]string{m.name}, m.aliases)
	if m.kind == api.GPU && !slices.Contains(names, m.label) {
		names = append(names, m.label)
	}
	return names
}
