package report

import (
	"bytes"
	"testing"
)

func TestHint(t *testing.T) {
	const id = "cpu-train-20261123-012705-6ebd35c"
	const text = "job " + id + " failed\nnext: kubectl kinetic jobs logs -f " + id + " --local; kubectl kinetic jobs cleanup " + id
	if got, want := shortened(id, text), "job "+id+" failed\nnext: kubectl kinetic jobs logs -f 6ebd35c --local; kubectl kinetic jobs cleanup 6ebd35c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := shortened("mine-1", "kubectl kinetic jobs logs mine-1"); got != "kubectl kinetic jobs logs mine-1" {
		t.Errorf("an ID without a short form: got %q", got)
	}
	if got := Hint(&bytes.Buffer{}, id, text); got != text {
		t.Errorf("in a pipe: got %q", got)
	}
}
