package doctor

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestCreateAsksWhatFlagsDoNotSay(t *testing.T) {
	for name, tt := range map[string]struct {
		flags, lines []string
		asked        string
		up           []string
		wrong        string
	}{
		"all of it": {nil, []string{"acme", "us-east5-b", "research"},
			"Google Cloud project: zone, or region of a regional cluster [us-central1-a]: name of the new cluster [kinetic-cluster]: ",
			[]string{"up", "--project=acme", "--zone=us-east5-b", "--cluster=research"}, ""},
		"the defaults": {nil, []string{"acme", "", ""}, "[kinetic-cluster]: ", []string{"up", "--project=acme", "--zone=us-central1-a", "--cluster=kinetic-cluster"}, ""},
		"the rest": {[]string{"--zone=us-east5-b", "-n", "ml"}, []string{"acme", "research"}, "Google Cloud project: name of the new cluster [kinetic-cluster]: ",
			[]string{"up", "--project=acme", "--zone=us-east5-b", "--cluster=research", "--namespace=ml"}, ""},
		"nothing":    {[]string{"--project=acme", "--zone=us-east5-b", "--cluster=research"}, nil, "", []string{"up", "--project=acme", "--zone=us-east5-b", "--cluster=research"}, ""},
		"no project": {nil, []string{"", "", "", "", ""}, "Google Cloud project: ", nil, "init create needs a Google Cloud project"},
		"the end":    {nil, []string{"acme"}, "zone, or region of a regional cluster [us-central1-a]: \n", nil, `no answer to "zone, or region of a regional cluster"`},
	} {
		t.Run(name, func(t *testing.T) {
			newcomer(t, gcptest.New(t))
			var errOut bytes.Buffer
			f := &initFlags{connection: connect.NewFlags()}
			section := f.connection.Section()
			if err := section.Flags.Parse(tt.flags); err != nil {
				t.Fatal(err)
			}
			s := &setup{initFlags: f, streams: genericiooptions.IOStreams{In: &typed{tt.lines}, ErrOut: &errOut}, now: clock.RealClock{}, env: os.Getenv, asks: true}
			err := s.askPlace(t.Context())
			if !strings.HasSuffix(errOut.String(), tt.asked) || (err != nil) != (tt.wrong != "") {
				t.Fatalf("asked %q, want %q; %v", errOut.String(), tt.asked, err)
			}
			if tt.wrong != "" {
				if !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("got %v, want %s", err, tt.wrong)
				}
				return
			}
			if got, err := s.upArguments(); err != nil || !slices.Equal(got, tt.up) {
				t.Errorf("got %q, %v, want %q", got, err, tt.up)
			}
		})
	}
}
