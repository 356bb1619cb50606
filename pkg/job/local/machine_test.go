package local

import (
	"strings"
	"testing"
)

func TestSupportedOn(t *testing.T) {
	for goos, want := range map[string]bool{"linux": true, "darwin": true, "windows": false, "freebsd": false} {
		err := supportedOn(goos)
		if (err == nil) != want {
			t.Errorf("%s: got %v", goos, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "this is "+goos) || !strings.HasSuffix(err.Error(), ": run the job on a cluster, without --local")) {
			t.Errorf("%s: %v: it does not say where this is, or what to do", goos, err)
		}
	}
}
