package accelerator

import (
	"iter"
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
	network    api.Network
	price      *float64
	spotPrice  *float64
	region     string
	asOf       string
	topologies []topology
	standard   topology // the topology marked with *, nil if there is none
}

// readMachines reads the text of catalogue.txt. A test finds mistakes there.
func readMachines(text string) (machines []machine) {
	for fields := range dataLines(text) {
		c := cells(fields)
		m := machine{
			name: c.text(), kind: api.AcceleratorKind(c.text()), aliases: c.list(), label: c.text(),
			typ: c.text(), arch: c.text(), perHost: c.int(), cores: c.int(), cubes: c.int(),
			vcpu: c.span(), gib: c.span(), memory: c.int(), network: api.Network(c.text()), price: c.price(), spotPrice: c.price(), region: c.text(), asOf: c.text(),
		}
		for _, text := range c.list() {
			text, marked := strings.CutSuffix(text, "*")
			t, _ := parseTopology(text)
			if marked {
				m.standard = t
			}
			m.topologies = append(m.topologies, t)
		}
		machines = append(machines, m)
	}
	return machines
}

// readShorthands reads the text of shorthands.txt: from what users type to the full text.
func readShorthands(text string) map[string]string {
	full := map[string]string{}
	for fields := range dataLines(text) {
		full[fields[0]] = fields[1]
	}
	return full
}

// dataLines yields the fields of each line, except for empty lines and comments.
func dataLines(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			fields := strings.Fields(line)
			if len(fields) > 0 && !strings.HasPrefix(fields[0], "#") && !yield(fields) {
				return
			}
		}
	}
}

// cells reads the fields of one line from left to right, where "-" is empty.
type cells []string

func (c *cells) text() string {
	cell := (*c)[0]
	*c = (*c)[1:]
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
	n, _ := number(c.text())
	return n
}

// span reads "44", or a range such as "4-32".
func (c *cells) span() span {
	first, last, several := strings.Cut(c.text(), "-")
	if !several {
		last = first
	}
	least, _ := number(first)
	most, _ := number(last)
	return span{least, most}
}

func (c *cells) price() *float64 {
	if usd, err := strconv.ParseFloat(c.text(), 64); err == nil {
		return &usd
	}
	return nil
}

// names returns all names of a line's accelerator, the canonical name first.
func (m machine) names() []string {
	names := slices.Concat([]string{m.name}, m.aliases)
	if m.kind == api.GPU && !slices.Contains(names, m.label) {
		names = append(names, m.label)
	}
	return names
}
