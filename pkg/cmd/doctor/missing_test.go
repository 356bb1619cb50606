package doctor

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// What is missing with the cluster, or with the project, is one problem with one fix.
func TestWhatIsMissingIsSaidOnce(t *testing.T) {
	const place = " --project acme --zone us-central1-a --cluster main"
	for name, tt := range map[string]struct {
		args    []string
		prepare func(*gcptest.Server)
		want    map[string]string
	}{
		"no cluster": {nil, func(*gcptest.Server) {}, map[string]string{"GKE cluster": "kubectl kinetic up" + place}},
		"a new project": {nil, func(s *gcptest.Server) {
			s.SetProject("acme", func(p *gcptest.Project) { p.APIs = map[string]bool{"cloudbilling.googleapis.com": true} })
		}, map[string]string{"GKE cluster": "kubectl kinetic up" + place}},
		"a cluster in another zone": {nil, func(s *gcptest.Server) {
			s.AddCluster("acme", "us-east5-b", &container.Cluster{Name: "main"})
		}, map[string]string{"GKE cluster": "kubectl kinetic doctor --project acme --zone us-east5-b --cluster main"}},
		"no project": {[]string{"--project=nosuch"}, func(*gcptest.Server) {}, map[string]string{"project": "gcloud projects list"}},
		"no access to GKE": {nil, func(s *gcptest.Server) { s.Deny("container.clusters.get") }, map[string]string{
			"kubeconfig":     "",
			"APIs":           "gcloud services enable containerfilesystem.googleapis.com cloudbuild.googleapis.com iamcredentials.googleapis.com logging.googleapis.com --project acme",
			"store":          "gcloud storage buckets create gs://acme-kn-main-jobs --uniform-bucket-level-access --project acme",
			"image registry": "gcloud artifacts repositories create kn-main --repository-format=docker --location=us --project=acme",
		}},
		"expired credentials": {nil, func(s *gcptest.Server) { s.Expire() }, map[string]string{"project": "correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is FILE"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			tt.prepare(s)
			s.SetenvOfNewMachine(t)
			var out bytes.Buffer
			streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
			args := append([]string{"--project=acme", "--zone=us-central1-a", "--cluster=main", "-o", "json"}, tt.args...)
			if code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), args, streams); code != 1 {
				t.Errorf("exit code %d", code)
			}
			var told report
			if err := json.NewDecoder(&out).Decode(&told); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, c := range told.Checks {
				if c.State == doctor.Wrong && c.Group != "This machine" {
					got[c.Name] = strings.Replace(c.Fix, os.Getenv(api.EnvCredentials), "FILE", 1)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// While Google Cloud is broken, all checks end, and the first of its project says how it is broken.
func TestDoctorEndsWhileGoogleCloudIsBroken(t *testing.T) {
	s := gcptest.New(t)
	s.SetenvOfNewMachine(t)
	s.Fail(gcptest.Fault{Times: 1000, Status: http.StatusInternalServerError})
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
	if code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), []string{"--project=acme", "--zone=us-central1-a", "--cluster=main"}, streams); code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"  wrong    project            reading the project acme: the service answered 500: ", "  skipped  kubeconfig         needs: project\n", "  skipped  image registry     needs: project\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestAllChecksEndInTime(t *testing.T) {
	f := &flags{connection: connect.NewFlags()}
	f.connection.Section()
	f.connection.Target.Project, f.connection.Target.Zone, f.connection.Target.Cluster = "acme", "us-central1-a", "c"
	o, err := f.toOptions(genericiooptions.NewTestIOStreamsDiscard(), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	o.cluster.Target.GKE, o.google.Target.GKE = true, true
	o.google.Target.Project = "acme"
	checks := o.checks()
	if longest := doctor.Longest(checks); longest > 3*time.Second {
		t.Errorf("all checks together may take %v", longest)
	}
	seen := map[string]bool{}
	for _, c := range checks {
		for _, need := range c.Needs {
			if !seen[need] {
				t.Errorf("%s needs %s, which does not come before it", c.Name, need)
			}
		}
		if seen[c.Name] {
			t.Errorf("there are two checks %s", c.Name)
		}
		seen[c.Name] = true
	}
}
