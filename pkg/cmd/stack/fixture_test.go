package stack_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/down"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/up"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver/apiservertest"
)

const zone = "us-central1-a"

// world is a project in Google Cloud, and a machine with an account there.
type world struct {
	*gcptest.Server
	kubernetes           *apiservertest.Server
	kubeconfig, profiles string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Server: gcptest.New(t), kubernetes: apiservertest.Start()}
	t.Cleanup(w.kubernetes.Close)
	w.SetPolls(0)
	w.SetEndpoint(strings.TrimPrefix(w.kubernetes.URL, "https://"), w.kubernetes.AuthorityData())
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs = map[string]bool{"cloudbilling.googleapis.com": true} })
	dir := t.TempDir()
	w.kubeconfig, w.profiles = filepath.Join(dir, "config"), filepath.Join(dir, "profiles.json")
	for name, value := range map[string]string{"HOME": dir, "KUBECONFIG": w.kubeconfig, "KINETIC_PROFILES_FILE": w.profiles, "CLOUDSDK_CONFIG": dir,
		"KINETIC_PROJECT": "acme", "KINETIC_ZONE": zone, "KINETIC_CLUSTER": "research", "KINETIC_NAMESPACE": "ml"} {
		t.Setenv(name, value)
	}
	w.Setenv(t)
	return w
}

// result is what a command has printed, and its exit code.
type result struct {
	code     int
	out, err string
}

func (w *world) command(ctx context.Context, make func(genericiooptions.IOStreams, clock.PassiveClock) *cobra.Command, tell func(string), args []string) result {
	var out bytes.Buffer
	told := &teller{tell: tell}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: told}
	code := cli.Run(ctx, make(streams, clock.RealClock{}), args, streams)
	return result{code, out.String(), told.text.String()}
}

// teller passes on what is written.
type teller struct {
	text bytes.Buffer
	tell func(string)
}

func (t *teller) Write(b []byte) (int, error) {
	if t.tell != nil {
		t.tell(string(b))
	}
	return t.text.Write(b)
}

func (w *world) up(t *testing.T, args ...string) result {
	t.Helper()
	return w.command(t.Context(), up.NewCommand, nil, args)
}

func (w *world) down(t *testing.T, args ...string) result {
	t.Helper()
	return w.command(t.Context(), down.NewCommand, nil, args)
}

// check fails the test unless the exit code is right and the output has all texts.
func (r result) check(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d:\n%s", r.code, code, r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			t.Errorf("%q is missing in:\n%s%s", text, r.out, r.err)
		}
	}
}

// other adds a cluster that someone else has made.
func (w *world) other(labels map[string]string) {
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["container.googleapis.com"] = true })
	w.AddCluster("acme", zone, &container.Cluster{Name: "research", ResourceLabels: labels,
		WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: "acme.svc.id.goog"}})
}
