package connect

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

func TestKubectl(t *testing.T) {
	const current = "current-context: kind-dev"
	for name, tt := range map[string]struct {
		config string
		args   []string
		want   string
	}{
		"the current context":            {kubeconfig, nil, ""},
		"the current context by name":    {kubeconfig, []string{"--context", "kind-dev"}, ""},
		"another context":                {kubeconfig, []string{"--context", "plugin"}, " --context=plugin"},
		"the context of a cluster":       {kubeconfig, []string{"--project=acme-ml", "--zone=us-central1-a", "--cluster=main"}, " --context=gke_acme-ml_us-central1-a_main"},
		"what a shell would take apart":  {strings.Replace(kubeconfig, "name: hinted\n  context", "name: my dev\n  context", 1), []string{"--context", "my dev"}, " --context='my dev'"},
		"no current context":             {strings.Replace(kubeconfig, current, "", 1), []string{"--context", "kind-dev"}, " --context=kind-dev"},
		"another server":                 {kubeconfig, []string{"--server", "https://192.0.2.9"}, " --server=https://192.0.2.9"},
		"another namespace and password": {kubeconfig, []string{"-n", "ml", "--token", "hush"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, path := connect(t, tt.config, tt.args...)
			where, err := c.ResolveCluster()
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Kubectl(where); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if err := c.Section().Flags.Parse([]string{"--kubeconfig", path}); err != nil {
				t.Fatal(err)
			}
			if got := c.Kubectl(where); !strings.HasPrefix(got, " --kubeconfig="+path) {
				t.Errorf("with --kubeconfig: got %q", got)
			}
		})
	}
}

// The commands of an error are about the cluster that the command line chose.
func TestErrorsNameTheContext(t *testing.T) {
	const create = "kubectl create namespace ml"
	for name, tt := range map[string]struct {
		args       []string
		text, next string
		want, do   string
	}{
		"the current context":   {nil, "no ml: " + create, create, "no ml: " + create, create},
		"another one":           {[]string{"--context", "plugin"}, "no ml: " + create, create, "no ml: kubectl --context=plugin create namespace ml", "kubectl --context=plugin create namespace ml"},
		"a command of ours":     {[]string{"--context", "plugin"}, "kubectl kinetic up", "kubectl kinetic up", "kubectl kinetic up", "kubectl kinetic up"},
		"a context that is not": {[]string{"--context", "nosuch"}, "no ml: " + create, "", "no ml: " + create, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := connect(t, kubeconfig)
			cause := &transport.Explained{Of: api.KindNotFound, Text: tt.text, Do: tt.next}
			root := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return cause }}
			cli.AddSections(root, c.Section())
			root.SetArgs(tt.args)
			err := root.ExecuteContext(t.Context())
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			var told interface{ Next() string }
			if !errors.As(err, &told) || told.Next() != tt.do {
				t.Errorf("next: got %v, want %q", told, tt.do)
			}
			if !errors.Is(err, cause) {
				t.Error("the cause is lost")
			}
		})
	}
}
