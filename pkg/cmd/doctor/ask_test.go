package doctor

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// What is wrong with an answer is said at once, and the question is asked again.
func TestAnswersAreCheckedWhenTheyAreGiven(t *testing.T) {
	const project, noProject, noNamespace = "Google Cloud project (none for another cluster): ", `"My Project": expected a project id, as in my-project-123, not its name or number` + "\n",
		`"A_b": not a namespace: expected at most 63 lower-case letters, digits and '-', with a letter or digit first and last` + "\n"
	for name, tt := range map[string]struct {
		flags, lines []string
		deny         string
		do           func(*setup, context.Context) error
		asked        []string // one after another
		code         int      // 1 also if doctor finds something wrong
		refused      bool
	}{
		"a cluster of a list": {nil, []string{"My Project", "nosuch", "acme", "9", "1", "A_b", "ml", "n"}, "", (*setup).connect, []string{
			project + noProject + project + "listing the clusters of project nosuch: project nosuch doesn't exist, or ",
			"\n" + project + "Which cluster?", "number [1]: \"9\": expected a number from 1 to 1, or a word of the list\nnumber [1]: ",
			"namespace [default]: " + noNamespace + "namespace [default]: profile main: "}, 1, false},
		"a cluster by its name": {nil, []string{"acme", "here", "us-central1-a", "My_Cluster", "main", "", "n"}, "container.clusters.list", (*setup).connect, []string{
			"zone or region [us-central1-a]: \"here\": expected a zone or region, as in us-central1-a\nzone or region [us-central1-a]: ",
			"cluster [kinetic-cluster]: \"My_Cluster\": expected at most 40 lower-case letters, digits and '-', with a letter first\ncluster [kinetic-cluster]: ",
			"namespace [default]: profile main: "}, 1, false},
		"a cluster that does not exist": {[]string{"--zone=us-central1-a", "--cluster=mian"}, []string{"acme"}, "", (*setup).connect, []string{project}, 1, true},
		"a cluster elsewhere": {nil, []string{"none", "1", "A_b", "ml", "", "bucket", "gs://bucket"}, "", (*setup).connect, []string{
			noNamespace + "namespace [default]: store (gs://BUCKET): init connect: a cluster outside of Google Cloud needs a store: ",
			"\nstore (gs://BUCKET): bucket: expected gs://BUCKET", "\nstore (gs://BUCKET): profile kind-dev: "}, 1, false},
		"a wrong project, then none": {nil, []string{"My Project", "none", "1", "ml", "", "gs://bucket"}, "", (*setup).connect, []string{
			project + noProject + project + "Which context", "namespace [default]: store (gs://BUCKET): init connect: a cluster outside", "profile kind-dev: "}, 1, false},
		"a project that does not exist, then none": {nil, []string{"nosuch", "none", "1", "ml", "", "gs://bucket"}, "", (*setup).connect, []string{
			"project nosuch doesn't exist, or ", project + "Which context", "namespace [default]: store (gs://BUCKET): init connect: a cluster outside", "profile kind-dev: "}, 1, false},
		"a wrong project, then nothing": {nil, []string{"nosuch", "", "1", "ml", "gs://bucket"}, "", (*setup).connect, []string{
			project + "Which context", "namespace [default]: store (gs://BUCKET): profile kind-dev: "}, 1, false},
		"never a project": {nil, []string{"A", "A", "A", "A", "A"}, "", (*setup).connect, []string{project + `"A": expected a project id`}, 2, true},
		"a new cluster": {nil, []string{"My Project", "acme", "here", "us-east5-b", "My_Cluster", "main"}, "", (*setup).askPlace, []string{
			"Google Cloud project: " + noProject + "Google Cloud project: zone, or region of a regional cluster [us-central1-a]: \"here\": ", "[kinetic-cluster]: \"My_Cluster\": "}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main", Status: "RUNNING"})
			if tt.deny != "" {
				s.Deny(tt.deny)
			}
			newcomer(t, s)
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(path, []byte(`{"contexts":[{"name":"kind-dev","context":{"cluster":"kind-dev"}}],"clusters":[{"name":"kind-dev","cluster":{"server":"https://127.0.0.1:1"}}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", path)
			var errOut bytes.Buffer
			f := &initFlags{connection: connect.NewFlags()}
			section := f.connection.Section()
			if err := section.Flags.Parse(tt.flags); err != nil {
				t.Fatal(err)
			}
			asking := &setup{initFlags: f, streams: genericiooptions.IOStreams{In: &typed{tt.lines}, Out: &bytes.Buffer{}, ErrOut: &errOut}, now: clock.RealClock{}, env: os.Getenv, asks: true}
			err := tt.do(asking, t.Context())
			if code := cli.CodeOf(err); code != tt.code {
				t.Errorf("exit code %d: %v", code, err)
			}
			if tt.refused && len(tt.flags) == 0 && asking.connection.Target != connect.NewFlags().Target {
				t.Errorf("what was refused is kept: %+v", asking.connection.Target)
			}
			rest := errOut.String()
			if tt.refused && strings.Contains(rest, "namespace") {
				t.Errorf("it asked for the namespace:\n%s", rest)
			}
			for _, asked := range tt.asked {
				_, after, found := strings.Cut(rest, asked)
				if !found {
					t.Fatalf("no %q in:\n%s", asked, rest)
				}
				rest = after
			}
		})
	}
}

// A project whose clusters can't be listed is waited for once.
func TestClustersAreListedOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		lines  []string
	}{
		"a list":  {0, []string{"acme", "1", "", "n"}},
		"no list": {http.StatusBadRequest, []string{"acme", "us-central1-a", "main", "", "n"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main", Status: "RUNNING"})
			const path = "/locations/-/clusters"
			if tt.status != 0 {
				s.Fail(gcptest.Fault{Path: path + "$", Times: 1000, Status: tt.status})
			}
			newcomer(t, s)
			var errOut bytes.Buffer
			f := &initFlags{connection: connect.NewFlags()}
			f.connection.Section()
			asking := &setup{initFlags: f, streams: genericiooptions.IOStreams{In: &typed{tt.lines}, Out: &bytes.Buffer{}, ErrOut: &errOut}, now: clock.RealClock{}, env: os.Getenv, asks: true}
			if err := asking.connect(t.Context()); cli.CodeOf(err) != cli.ExitFailed { // doctor finds something wrong
				t.Errorf("%v\n%s", err, errOut.String())
			}
			listed := slices.DeleteFunc(s.Calls(), func(c gcptest.Call) bool { return !strings.HasSuffix(c.Path, path) })
			if len(listed) != 1 {
				t.Errorf("%d requests for the list", len(listed))
			}
		})
	}
}
