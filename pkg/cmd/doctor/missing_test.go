package doctor

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/config/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
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
		"expired credentials": {nil, func(s *gcptest.Server) { s.Expire() }, map[string]string{"project": "gcloud auth application-default login"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			tt.prepare(s)
			newcomer(t, s)
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
					got[c.Name] = c.Fix
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
	newcomer(t, s)
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

// With --yes, nobody chooses one of several clusters.
func TestConnectGuessesNoCluster(t *testing.T) {
	const usage = "; choose one with --zone and --cluster"
	two := map[string]string{target.DefaultCluster: "us-central1-a", "other": "us-east5-b"}
	twins := map[string]string{"main": "us-central1-a", "other": "us-east5-b"}
	for name, tt := range map[string]struct {
		clusters map[string]string
		args     []string
		denied   bool
		saved    string
		want     string
	}{
		"there is one":                      {map[string]string{"main": "us-east5-b"}, nil, false, "main", "profile main: cluster main in us-east5-b of project acme"},
		"one of several has the usual name": {two, nil, false, "", "error: init connect: project acme has kinetic-cluster in us-central1-a, other in us-east5-b" + usage},
		"its name is given":                 {twins, []string{"--cluster=other"}, false, "other", "profile other: cluster other in us-east5-b of project acme"},
		"its zone is given":                 {twins, []string{"--zone=us-east5-b"}, false, "other", "profile other: cluster other in us-east5-b of project acme"},
		"a name that isn't there":           {twins, []string{"--cluster=mian"}, false, "", "error: init connect: project acme has main in us-central1-a, other in us-east5-b" + usage},
		"there is none":                     {nil, nil, false, "", "error: project acme has no cluster: create one with: kubectl kinetic init create --project acme"},
		"they can't be listed":              {twins, nil, true, "", "error: init connect: nothing says which cluster of project acme: use --zone and --cluster: listing the clusters of project acme: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			for name, zone := range tt.clusters {
				s.AddCluster("acme", zone, &container.Cluster{Name: name, Status: "RUNNING"})
			}
			if tt.denied {
				s.Deny("container.clusters.list")
			}
			newcomer(t, s)
			streams, _, _, errOut := genericiooptions.NewTestIOStreams()
			code := cli.Run(t.Context(), NewInit(streams, clock.RealClock{}), append([]string{"connect", "--yes", "--project=acme"}, tt.args...), streams)
			file, err := profile.Read(os.Getenv)
			if err != nil || file.Current != tt.saved || !strings.Contains(errOut.String(), tt.want) {
				t.Errorf("saved %q, %v: %s", file.Current, err, errOut.String())
			}
			if saved := tt.saved != ""; !saved && code != cli.ExitUsage && name != "there is none" {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
