package doctor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

func TestPrintResults(t *testing.T) {
	results := []doctor.Result{
		{Group: "This machine", Name: "Python", Finding: doctor.Good("3.12")},
		{Group: "Cluster c", Name: "namespace", Finding: doctor.Bad("kubectl create namespace ml", "there is no namespace ml")},
		{Group: "Cluster c", Name: "service account", Finding: doctor.Skip("needs namespace")},
		{Group: "Cluster c", Name: "store", Finding: doctor.Bad("log in", "refused\x1b[31m:\nlog in")},
	}
	for name, tt := range map[string]struct {
		marks marks
		style ui.Style
		want  string
	}{
		"in a pipe": {asciiMarks(), ui.Style{}, `This machine
  ok       Python           3.12

Cluster c
  wrong    namespace        there is no namespace ml: kubectl create namespace ml
  skipped  service account  needs namespace
  wrong    store            refused\x1b[31m: log in
`},
		"on a terminal": {unicodeMarks(), ui.Style{Color: true}, strings.ReplaceAll(`This machine
  ESC[32m✓ESC[0m  Python           3.12

Cluster c
  ESC[31m✗ESC[0m  namespace        there is no namespace ml: kubectl create namespace ml
  –  service account  needs namespace
  ESC[31m✗ESC[0m  store            refused\x1b[31m: log in
`, "ESC", "\x1b")},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := printResults(&out, results, tt.marks, tt.style); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Without a cluster, a terminal has one line for all that needs it; a pipe has a line for each.
func TestManyChecksThatNeedTheSame(t *testing.T) {
	results := []doctor.Result{
		{Group: "This machine", Name: "Python", Finding: doctor.Good("3.12")},
		{Group: "Cluster", Name: "kubeconfig", Finding: doctor.Bad("fix it", "there is none")},
	}
	for _, name := range []string{"API server", "rights", "nodes", "store"} {
		results = append(results, doctor.Result{Group: "Cluster", Name: name, Finding: doctor.Lacking("kubeconfig")})
	}
	for _, style := range []ui.Style{{}, {Redraw: true}} {
		var out bytes.Buffer
		if err := printResults(&out, results, asciiMarks(), style); err != nil {
			t.Fatal(err)
		}
		const folded = "\nSkipped\n  skipped  4 checks need: kubeconfig\n"
		if got := strings.HasSuffix(out.String(), folded); got != style.Redraw || strings.Contains(out.String(), "rights") == style.Redraw {
			t.Errorf("redraw %v:\n%s", style.Redraw, &out)
		}
	}
}
