package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestPackageLines(t *testing.T) {
	wheels := []api.Package{{File: "six-1.16.0-py2.py3-none-any.whl"}, {File: "Flask_SQLAlchemy-3.1.1-py3-none-any.whl"}, {File: "odd"}}
	if got := PackageLines(Packages(wheels)); len(got) != 1 || got[0] != "3: flask-sqlalchemy 3.1.1, odd, six 1.16.0" {
		t.Errorf("got %q", got)
	}
	wheels = nil
	for i := range 1234 {
		wheels = append(wheels, api.Package{File: fmt.Sprintf("a_%04d-1.0-py3-none-any.whl", i)})
	}
	got := PackageLines(Packages(wheels))
	for _, line := range got {
		if len(line) > listWidth {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
	if first, last := got[0], got[len(got)-1]; !strings.HasPrefix(first, "1,234: a-0000 1.0, a-0001 1.0, ") || last != "and 1,134 more (-o json prints all)" {
		t.Errorf("from %q to %q", first, last)
	}
	if text := strings.Join(got, " "); !strings.Contains(text, "a-0099 1.0 and 1,134") {
		t.Errorf("the list ends with %q", text[len(text)-60:])
	}
}
