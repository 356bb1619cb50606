package image_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

// TestWrongRecord: a wheel whose RECORD is wrong is installed, as pip installs it, and the user is told.
func TestWrongRecord(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	odd := x.add(t, "odd", "1", file{name: "odd.py", data: "x = 1\n"}, file{name: "odd.py", data: "x = 2\n"})
	e.Wheels = append(e.Wheels, odd)
	made := mustMake(t, client(t), s, e, image.Options{})
	if len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], odd.File+" is installed as it is, but its RECORD is wrong: ") {
		t.Errorf("warnings %q", made.Warnings)
	}
	if got := files(t, s.image(t, tagOf(t, e)))["opt/kinetic/env/lib/python3.12/site-packages/odd.py"]; got != "x = 2\n" {
		t.Errorf("odd.py is %q", got)
	}
}
