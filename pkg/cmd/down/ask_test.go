package down

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestDownAsksForTheName(t *testing.T) {
	silent, _ := io.Pipe()
	ended, end := context.WithCancel(t.Context())
	end()
	for name, tt := range map[string]struct {
		ctx  context.Context
		in   io.Reader
		said string
		want string // the error
	}{
		"the name":    {t.Context(), strings.NewReader("research\n"), "", "<nil>"},
		"another":     {t.Context(), strings.NewReader("other\n"), "nothing was deleted\n", "exit code 1"},
		"no answer":   {t.Context(), strings.NewReader(""), "\nnothing was deleted\n", `no answer to "To delete this, type the name of the cluster": end of input; nothing was changed`},
		"interrupted": {ended, silent, "\nnothing was deleted\n", "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			err := askForName(tt.ctx, genericiooptions.IOStreams{In: tt.in, ErrOut: &said}, "research")
			if fmt.Sprint(err) != tt.want {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if want := "To delete this, type the name of the cluster: " + tt.said; said.String() != want {
				t.Errorf("said %q, want %q", &said, want)
			}
		})
	}
}
