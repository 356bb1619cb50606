package accelerator

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

var networks = map[api.AcceleratorKind][]api.Network{api.TPU: {NICs}, api.GPU: {api.NetworkRDMA, api.NetworkTCPXO, TCPX}}

// TestTables: the program does not check its own tables.
func TestTables(t *testing.T) {
	columns := regexp.MustCompile(`^\S+ (gpu|tpu) \S+ \S+ \S+ (amd64|arm64) [1-9]\d* [1-9]\d* (-|[1-9]\d*) ` + // to cubes
		`[1-9]\d*(-[1-9]\d*)? [1-9]\d*(-[1-9]\d*)? [1-9]\d* \S+ ` + // vcpu, gib, hbm, net
		`(-|\d+(\.\d+)?) (-|\d+(\.\d+)?) \S+ \S+ [1-9]\d*(x[1-9]\d*)*\*?(,[1-9]\d*(x[1-9]\d*)*\*?)*$`)
	for fields := range dataLines(catalogueText) {
		if line := strings.Join(fields, " "); !columns.MatchString(line) {
			t.Errorf("catalogue.txt: %s", line)
		}
	}
	standard, names := map[string]int{}, map[string]string{}
	for _, m := range readMachines(catalogueText) {
		standard[m.name] += 0
		if m.standard != nil {
			standard[m.name]++
		}
		for _, name := range m.names() {
			if other := names[name]; other != "" && other != m.name {
				t.Errorf("%s is both %s and %s", name, other, m.name)
			}
			names[name] = m.name
		}
		if m.vcpu.least > m.vcpu.most || m.gib.least > m.gib.most || m.network != "" && !slices.Contains(networks[m.kind], m.network) {
			t.Errorf("%s has processors %v, memory %v, network %q", m.name, m.vcpu, m.gib, m.network)
		}
		if (m.price != nil || m.spotPrice != nil) && (m.region == "" || m.asOf == "") {
			t.Errorf("a price of %s has no region or no date", m.name)
		}
		for _, topology := range m.topologies {
			if n := topology.chips(); n%m.perHost != 0 || m.kind == api.GPU && n != m.perHost {
				t.Errorf("%s: %s can't be divided into hosts of %d chips", m.name, topology, m.perHost)
			}
		}
	}
	for name, n := range standard {
		if n != 1 {
			t.Errorf("%d shapes of %s are marked with *", n, name)
		}
	}
	for text, columns := range map[string]int{shorthandsText: 2, disksText: 3} {
		first := map[string]bool{}
		for fields := range dataLines(text) {
			if len(fields) != columns || first[fields[0]] {
				t.Errorf("%q has other than %d columns, or is listed twice", fields, columns)
			}
			first[fields[0]] = true
		}
	}
}

// TestOneLineIsEnough adds an accelerator the way that catalogue.txt promises.
func TestOneLineIsEnough(t *testing.T) {
	line := "x900 gpu x900-96gb nvidia-x900 a9-highgpu-8g amd64 8 1 - 96 680 96 rdma - - - - 8*\n"
	c := newCatalogue(catalogueText+line, shorthandsText)
	for _, text := range []string{"x900", "x900x8", "gpu-x900-96gb", "nvidia-x900:spot"} {
		r, err := readRequest(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.resolve(r)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if s.name != "x900" || s.chips() != 8 {
			t.Errorf("%s is %s with %d chips", text, s.name, s.chips())
		}
	}
}
