// Package golden compares texts of tests with files in testdata.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pmezard/go-difflib/difflib"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Check compares a text with a file; with -update, it writes the file.
func Check(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; -update rewrites it (-want +got):\n%s", file, diff)
	}
}

// Diff returns the lines in which a text differs from a base, in groups. A group begins with @@ and the line before it in the base.
func Diff(base, text string) string {
	from, to := strings.SplitAfter(base, "\n"), strings.SplitAfter(text, "\n")
	var diff strings.Builder
	for _, op := range difflib.NewMatcher(from, to).GetOpCodes() {
		if op.Tag == 'e' {
			continue
		}
		before := "\n"
		if op.I1 > 0 {
			before = " " + from[op.I1-1]
		}
		diff.WriteString("@@" + before)
		for _, line := range from[op.I1:op.I2] {
			diff.WriteString("-" + line)
		}
		for _, line := range to[op.J1:op.J2] {
			diff.WriteString("+" + line)
		}
	}
	return diff.String()
}
