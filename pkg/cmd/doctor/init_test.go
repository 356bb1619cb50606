package doctor

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	container "google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// typed is a terminal: each read gets one line.
type typed struct{ lines []string }

func (l *typed) Read(p []byte) (int, error) {
	if len(l.lines) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.lines[0]+"\n")
	l.lines = l.lines[1:]
	return n, nil
}

// newcomer sets up a machine with an account of Google Cloud, and no kubeconfig.
func newcomer(t *testing.T, s *gcptest.Server) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	for _, name := range []string{"KINETIC_PROJECT", "KINETIC_ZONE", "KINETIC_CLUSTER", "KINETIC_NAMESPACE", "KINETIC_PROFILE", "KINETIC_STORE",
		"KINETIC_PROFILES_FILE", "STORAGE_EMULATOR_HOST", "CLOUDSDK_CONFIG", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "")
	}
	for _, variable := range s.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
}

func TestConnectByQuestions(t *testing.T) {
	s := gcptest.New(t)
	for name, zone := range map[string]string{"small": "europe-west4-b", "large": "us-central1-a"} {
		s.AddCluster("acme", zone, &container.Cluster{Name: name, Status: "RUNNING"})
	}
	newcomer(t, s)
	var out, errOut bytes.Buffer
	run := func(lines ...string) error {
		out.Reset()
		errOut.Reset()
		streams := genericiooptions.IOStreams{In: &typed{lines}, Out: &out, ErrOut: &errOut}
		f := &initFlags{connection: connect.NewFlags()}
		f.connection.Section()
		return (&setup{initFlags: f, streams: streams, now: clock.RealClock{}, env: os.Getenv, asks: true}).connect(t.Context())
	}
	if err := run("acme", "2", "research", "n"); cli.CodeOf(err) != cli.ExitFailed { // doctor finds something wrong
		t.Fatalf("%v\n%s", err, errOut.String())
	}
	for _, want := range []string{
		"Google Cloud project (none for another cluster): ",
		"Which cluster?\n  1  large  us-central1-a, running, version 1.35.1-gke.1396000\n  2  small  europe-west4-b, running, version 1.35.1-gke.1396000\nnumber [1]: namespace [default]: ",
		"profile small: cluster small in europe-west4-b of project acme, namespace research; it is the current one\n",
	} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("no %q in:\n%s", want, errOut.String())
		}
	}
	if want := "context gke_acme_europe-west4-b_small: added to the kubeconfig"; !strings.Contains(errOut.String(), want) {
		t.Errorf("no %q in:\n%s", want, errOut.String())
	}
	if want := "Cluster of gke_acme_europe-west4-b_small, namespace research\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in:\n%s", want, out.String())
	}
	config, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil || config.CurrentContext != "" || config.Clusters["gke_acme_europe-west4-b_small"].Server != "https://203.0.113.10" {
		t.Errorf("kubeconfig %+v, %v", config, err)
	}
	file, err := profile.Read(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	got, err := file.Find("small")
	if want := (profile.Profile{Name: "small", Project: "acme", Zone: "europe-west4-b", Cluster: "small", Namespace: "research"}); err != nil || got != want || file.Current != "small" {
		t.Errorf("got %+v, current %q, %v", got, file.Current, err)
	}

	// Without the right to list clusters, their names are asked for.
	s.Deny("container.clusters.list")
	if err := run("acme", "us-central1-a", "large", ""); cli.CodeOf(err) != cli.ExitFailed {
		t.Fatalf("%v\n%s", err, errOut.String())
	}
	if want := "warning: listing the clusters of project acme: "; !strings.Contains(errOut.String(), want) {
		t.Errorf("no %q in:\n%s", want, errOut.String())
	}
	if file, err := profile.Read(os.Getenv); err != nil || file.Current != "large" {
		t.Errorf("the current profile is %q, %v", file.Current, err)
	}
}

func TestSaveReplacesOnlyTheSameCluster(t *testing.T) {
	s := gcptest.New(t)
	for _, name := range []string{"one", "two"} {
		s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: name, Status: "RUNNING"})
	}
	newcomer(t, s)
	run := func(arguments ...string) (int, string) {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		code := cli.Run(t.Context(), NewInit(streams, clock.RealClock{}), append([]string{"connect", "--yes", "--project=acme", "--zone=us-central1-a"}, arguments...), streams)
		return code, errOut.String()
	}
	const wrong = " checks failed\n" // so that a script stops, although the profile is saved
	if code, text := run("--cluster=one", "--profile-name=p"); code != 1 || !strings.Contains(text, wrong) {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if code, text := run("--cluster=one", "--profile-name=p", "-n", "research"); code != 1 || !strings.Contains(text, wrong) {
		t.Errorf("the same cluster again: exit code %d: %s", code, text)
	}
	code, text := run("--cluster=two", "--profile-name=p")
	if want := "error: profile p is for cluster one in us-central1-a of project acme: choose another name with --profile-name\n"; code != 2 || text != want {
		t.Errorf("another cluster: exit code %d: %s", code, text)
	}
	if code, text = run("--cluster=two", "--profile-name=p 1"); code != 2 || !strings.Contains(text, "p 1") {
		t.Errorf("a wrong name: exit code %d: %s", code, text)
	}
}

// A profile keeps its store and its images as long as it is for the same cluster.
func TestSaveKeepsWhatAProfileSays(t *testing.T) {
	mine := profile.Profile{Name: "p", Project: "acme", Zone: "us-central1-a", Cluster: "one", Namespace: "default",
		Store: "gs://mine", ImageRepo: "registry.example.com/mine", BaseImage: "mine:1", BaseImageRepo: "registry.example.com/base"}
	kind := profile.Profile{Name: "p", Context: "kind-dev", Namespace: "default", Store: "gs://team", ImageRepo: "registry.example.com/mine"}
	change := func(p profile.Profile, change func(*profile.Profile)) profile.Profile {
		change(&p)
		return p
	}
	for name, tt := range map[string]struct{ old, put, want profile.Profile }{
		"another namespace": {mine,
			profile.Profile{Name: "p", Project: "acme", Zone: "us-central1-a", Cluster: "one", Namespace: "ml"},
			change(mine, func(p *profile.Profile) { p.Namespace = "ml" })},
		"another store": {mine,
			profile.Profile{Name: "p", Project: "acme", Zone: "us-central1-a", Cluster: "one", Namespace: "default", Store: "gs://new"},
			change(mine, func(p *profile.Profile) { p.Store = "gs://new" })},
		"another store outside of GKE": {kind,
			profile.Profile{Name: "p", Context: "kind-dev", Namespace: "default", Store: "gs://new"},
			change(kind, func(p *profile.Profile) { p.Store = "gs://new" })},
		"another cluster": {mine,
			profile.Profile{Name: "p", Project: "acme", Zone: "us-central1-a", Cluster: "two", Namespace: "ml"},
			profile.Profile{Name: "p", Project: "acme", Zone: "us-central1-a", Cluster: "two", Namespace: "ml"}},
	} {
		t.Run(name, func(t *testing.T) {
			newcomer(t, gcptest.New(t))
			if err := profile.Change(t.Context(), os.Getenv, func(d *profile.Draft) error { return d.Put(tt.old) }); err != nil {
				t.Fatal(err)
			}
			streams, _, _, errOut := genericiooptions.NewTestIOStreams()
			streams.In = &typed{[]string{"y"}}
			f := &initFlags{connection: connect.NewFlags()}
			s := &setup{initFlags: f, streams: streams, now: clock.RealClock{}, env: os.Getenv, asks: true}
			if err := s.save(t.Context(), tt.put); err != nil {
				t.Fatal(err)
			}
			file, err := profile.Read(os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := file.Find("p"); err != nil || got != tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
			if text := "store " + tt.want.Store; tt.want.Store != "" && !strings.Contains(errOut.String(), text) {
				t.Errorf("no %q in:\n%s", text, errOut.String())
			}
		})
	}
}

// A profile for a cluster that does not exist would only be found out by the next job.
func TestConnectRefusesAClusterThatDoesNotExist(t *testing.T) {
	const up = "create it with: kubectl kinetic up --project acme --zone us-central1-a --cluster mian"
	for name, tt := range map[string]struct {
		prepare func(*gcptest.Server)
		saved   bool
		want    string
	}{
		"there are others": {func(s *gcptest.Server) {
			s.AddCluster("acme", "us-east5-b", &container.Cluster{Name: "main"})
		}, false, "error: project acme has no cluster mian in us-central1-a; it has main in us-east5-b: choose one of them with --zone and --cluster, or " + up},
		"there is none":         {func(*gcptest.Server) {}, false, "error: project acme has no cluster mian in us-central1-a, nor any other: " + up},
		"the others are secret": {func(s *gcptest.Server) { s.Deny("container.clusters.list") }, false, "error: project acme has no cluster mian in us-central1-a: " + up},
		"GKE is not enabled": {func(s *gcptest.Server) {
			s.SetProject("acme", func(p *gcptest.Project) { delete(p.APIs, "container.googleapis.com") })
		}, false, "error: reading cluster mian in us-central1-a: the API container.googleapis.com is not enabled in project acme; enable it with: "},
		"it may not be read": {func(s *gcptest.Server) { s.Deny("container.clusters.get") }, true, "warning: it is not known whether there is a cluster mian: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			tt.prepare(s)
			newcomer(t, s)
			streams, _, _, errOut := genericiooptions.NewTestIOStreams()
			code := cli.Run(t.Context(), NewInit(streams, clock.RealClock{}), []string{"connect", "--yes", "--project=acme", "--zone=us-central1-a", "--cluster=mian"}, streams)
			if code != 1 || !strings.Contains(errOut.String(), tt.want) {
				t.Errorf("exit code %d: %s", code, errOut.String())
			}
			file, err := profile.Read(os.Getenv)
			if saved := len(file.Names()) > 0; err != nil || saved != tt.saved {
				t.Errorf("saved: %t, %v", saved, err)
			}
		})
	}
}

// A cluster that is being created has no address that could be written.
func TestConnectToAClusterBeingCreated(t *testing.T) {
	s := gcptest.New(t)
	s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "c", Status: "RUNNING"})
	newcomer(t, s)
	s.Fail(gcptest.Fault{Method: "GET", Path: "/clusters/c$", Times: 1, Status: 200, Body: `{"name":"c","status":"PROVISIONING"}`})
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	code := cli.Run(t.Context(), NewInit(streams, clock.RealClock{}), []string{"connect", "--yes", "--project=acme", "--zone=us-central1-a", "--cluster=c"}, streams)
	if want := "warning: writing the context gke_acme_us-central1-a_c: cluster c has no address, its status is PROVISIONING: repeat this command once it runs\n"; code != 1 || !strings.Contains(errOut.String(), want) {
		t.Errorf("exit code %d: no %q in:\n%s", code, want, errOut.String())
	}
	if _, err := os.Stat(os.Getenv("KUBECONFIG")); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig was written: %v", err)
	}
}

func TestProfileName(t *testing.T) {
	for context, want := range map[string]string{
		"kind-dev": "kind-dev", "admin@k8s.example.com": "admin-k8s-example-com", "arn:aws:eks:eu-west-1:1:cluster/ml": "arn-aws-eks-eu-west-1-1-cluster-ml",
		"-a_b-": "a_b", "é": "", strings.Repeat("c", 80): strings.Repeat("c", 64),
	} {
		got := profileName(context)
		if got != want {
			t.Errorf("%s: got %q, want %q", context, got, want)
		}
		if got != "" && profile.CheckName(got) != nil {
			t.Errorf("%s: no profile can have the name %s", context, got)
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

func TestConnectRefusesAProjectThatDoesNotExist(t *testing.T) {
	newcomer(t, gcptest.New(t))
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	code := cli.Run(t.Context(), NewInit(streams, clock.RealClock{}), []string{"connect", "--yes", "--project=nosuch", "--zone=us-central1-a", "--cluster=main"}, streams)
	if want := "project nosuch doesn't exist, or "; code != 1 || !strings.Contains(errOut.String(), want) {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
	if file, err := profile.Read(os.Getenv); err != nil || len(file.Names()) > 0 {
		t.Errorf("saved %v, %v", file.Names(), err)
	}
}
