package runner

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

// configMapLimit is what the design allows the runner's ConfigMap.
const configMapLimit = 128 << 10

func TestSourceIsTheFile(t *testing.T) {
	want, err := os.ReadFile("remote_runner.py")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Source, want) {
		t.Error("Source differs from remote_runner.py")
	}
	if len(Source) >= configMapLimit {
		t.Errorf("the runner has %d bytes, want less than %d", len(Source), configMapLimit)
	}
}

func TestHashNamesTheSource(t *testing.T) {
	want := fmt.Sprintf("%x", sha256.Sum256(Source))[:10]
	if got := Hash(); got != want {
		t.Errorf("Hash() = %q, want %q", got, want)
	}
}
