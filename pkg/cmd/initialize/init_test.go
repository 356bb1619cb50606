package initialize

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
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

// asking is a run of init whose questions are answered by lines.
func asking(t *testing.T, flags []string, out, errOut io.Writer, lines ...string) *setup {
	t.Helper()
	s := &setup{streams: genericiooptions.IOStreams{In: &typed{lines}, Out: out, ErrOut: errOut}, now: clock.RealClock{}, env: os.Getenv,
		connection: connect.NewFlags(), flags: pflag.NewFlagSet("init", pflag.ContinueOnError)}
	s.flags.AddFlagSet(s.section().Flags)
	s.flags.AddFlagSet(s.connection.Section().Flags)
	if err := s.flags.Parse(flags); err != nil {
		t.Fatal(err)
	}
	return s
}

// connect runs `init connect --yes` for the project acme.
func connectTo(t *testing.T, arguments ...string) (int, string) {
	t.Helper()
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), append([]string{"connect", "--yes", "--project=acme"}, arguments...), streams)
	return code, errOut.String()
}

func TestConnectByQuestions(t *testing.T) {
	s := gcptest.New(t)
	for name, zone := range map[string]string{"small": "europe-west4-b", "large": "us-central1-a"} {
		s.AddCluster("acme", zone, &container.Cluster{Name: name, Status: "RUNNING"})
	}
	s.SetenvOfNewMachine(t)
	var out, errOut bytes.Buffer
	run := func(lines ...string) error {
		out.Reset()
		errOut.Reset()
		return asking(t, nil, &out, &errOut, lines...).connect(t.Context())
	}
	if err := run("acme", "2", "research"); cli.CodeOf(err) != cli.ExitFailed { // doctor finds something wrong
		t.Fatalf("%v\n%s", err, errOut.String())
	}
	for _, want := range []string{
		"Google Cloud project (none for another cluster): ",
		"  1  large: us-central1-a, running, version 1.35.1-gke.1396000\n  2  small: europe-west4-b, running, version 1.35.1-gke.1396000\nWhich cluster? [1]: namespace [default]: ",
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
	kubeconfig, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil || kubeconfig.CurrentContext != "" || kubeconfig.Clusters["gke_acme_europe-west4-b_small"].Server != "https://203.0.113.10" {
		t.Errorf("kubeconfig %+v, %v", kubeconfig, err)
	}
	file, err := config.ReadProfiles(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	got, err := file.Find("small")
	if want := (config.Profile{Name: "small", Project: "acme", Zone: "europe-west4-b", Cluster: "small", Namespace: "research"}); err != nil || got != want || file.Current != "small" {
		t.Errorf("got %+v, current %q, %v", got, file.Current, err)
	}

	// It keeps its namespace, unless another is typed.
	if err := run("acme", "2", ""); cli.CodeOf(err) != cli.ExitFailed || !strings.Contains(errOut.String(), "namespace [research]: profile small: cluster small in europe-west4-b of project acme, namespace research; ") {
		t.Errorf("%v\n%s", err, errOut.String())
	}

	// Without the right to list clusters, their names are asked for.
	s.Deny("container.clusters.list")
	if err := run("acme", "us-central1-a", "large", ""); cli.CodeOf(err) != cli.ExitFailed {
		t.Fatalf("%v\n%s", err, errOut.String())
	}
	if want := "warning: listing the clusters of project acme: "; !strings.Contains(errOut.String(), want) {
		t.Errorf("no %q in:\n%s", want, errOut.String())
	}
	if file, err := config.ReadProfiles(os.Getenv); err != nil || file.Current != "large" {
		t.Errorf("the current profile is %q, %v", file.Current, err)
	}
}

func TestSaveReplacesOnlyTheSameCluster(t *testing.T) {
	s := gcptest.New(t)
	for _, name := range []string{"one", "two"} {
		s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: name, Status: "RUNNING"})
	}
	s.SetenvOfNewMachine(t)
	run := func(arguments ...string) (int, string) {
		return connectTo(t, append(arguments, "--zone=us-central1-a")...)
	}
	const wrong = " checks failed\n" // so that a script stops, although the profile is saved
	mine := config.Profile{Name: "p", Project: "acme", Zone: "us-central1-a", Cluster: "one", Namespace: "default", Store: "gs://mine", Defaults: config.Defaults{ImageRepo: "registry.example.com/mine"}}
	if err := config.ChangeProfiles(t.Context(), os.Getenv, func(d *config.ProfileDraft) error { return d.Put(mine) }); err != nil {
		t.Fatal(err)
	}
	if code, text := run("--cluster=one", "--profile-name=p"); code != 1 || !strings.Contains(text, wrong) {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if code, text := run("--cluster=one", "--profile-name=p", "-n", "research"); code != 1 || !strings.Contains(text, wrong) {
		t.Errorf("the same cluster again: exit code %d: %s", code, text)
	}
	file, err := config.ReadProfiles(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	kept := mine // it keeps its store and its images
	kept.Namespace = "research"
	if got, err := file.Find("p"); err != nil || got != kept {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, text := run("--cluster=one", "--profile-name=p"); !strings.Contains(text, "project acme, namespace research; ") {
		t.Errorf("the same cluster once more: %s", text)
	}
	code, text := run("--cluster=two", "--profile-name=p")
	if want := "error: writing the profile p: it is for cluster one in us-central1-a of project acme: choose another name with --profile-name\n"; code != 2 || text != want {
		t.Errorf("another cluster: exit code %d: %s", code, text)
	}
	if code, text = run("--cluster=two", "--profile-name=p 1"); code != 2 || !strings.Contains(text, "p 1") {
		t.Errorf("a wrong name: exit code %d: %s", code, text)
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
		}, false, "error: project acme has no cluster mian in us-central1-a; it has main in us-east5-b: choose another with --zone and --cluster, or " + up},
		"there is none":         {func(*gcptest.Server) {}, false, "error: project acme has no cluster mian in us-central1-a, nor any other: choose another with --zone and --cluster, or " + up},
		"the others are secret": {func(s *gcptest.Server) { s.Deny("container.clusters.list") }, false, "error: project acme has no cluster mian in us-central1-a: choose another with --zone and --cluster, or " + up},
		"GKE is not enabled": {func(s *gcptest.Server) {
			s.SetProject("acme", func(p *gcptest.Project) { delete(p.APIs, "container.googleapis.com") })
		}, false, "error: reading cluster mian in us-central1-a: the API container.googleapis.com is not enabled in project acme; enable it with: "},
		"it may not be read": {func(s *gcptest.Server) { s.Deny("container.clusters.get") }, true, "warning: reading cluster mian in us-central1-a: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			tt.prepare(s)
			s.SetenvOfNewMachine(t)
			code, text := connectTo(t, "--zone=us-central1-a", "--cluster=mian")
			if code != 1 || !strings.Contains(text, tt.want) {
				t.Errorf("exit code %d: %s", code, text)
			}
			file, err := config.ReadProfiles(os.Getenv)
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
	s.SetenvOfNewMachine(t)
	s.Fail(gcptest.Fault{Method: "GET", Path: "/clusters/c$", Times: 1, Status: 200, Body: `{"name":"c","status":"PROVISIONING"}`})
	code, text := connectTo(t, "--zone=us-central1-a", "--cluster=c")
	if want := "warning: writing the context gke_acme_us-central1-a_c: cluster c has no address, its status is PROVISIONING: repeat this command once it runs\n"; code != 1 || !strings.Contains(text, want) {
		t.Errorf("exit code %d: no %q in:\n%s", code, want, text)
	}
	if _, err := os.Stat(os.Getenv("KUBECONFIG")); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig was written: %v", err)
	}
}

func TestProfileName(t *testing.T) {
	for context, want := range map[string]string{
		"kind-dev": "kind-dev", "admin@k8s.example.com": "admin-k8s-example-com", "arn:aws:eks:eu-west-1:1:cluster/ml": "arn-aws-eks-eu-west-1-1-cluster-ml",
		"-a_b": "a_b", "é": "", strings.Repeat("c", 80): strings.Repeat("c", 64),
	} {
		got := profileName(context)
		if got != want {
			t.Errorf("%s: got %q, want %q", context, got, want)
		}
		if got != "" && config.CheckProfileName(got) != nil {
			t.Errorf("%s: no profile can have the name %s", context, got)
		}
	}
}

func TestConnectRefusesAProjectThatDoesNotExist(t *testing.T) {
	gcptest.New(t).SetenvOfNewMachine(t)
	code, text := connectTo(t, "--project=nosuch", "--zone=us-central1-a", "--cluster=main")
	if want := "project nosuch doesn't exist, or "; code != 1 || !strings.Contains(text, want) {
		t.Errorf("exit code %d: %s", code, text)
	}
	if file, err := config.ReadProfiles(os.Getenv); err != nil || len(file.Names()) > 0 {
		t.Errorf("saved %v, %v", file.Names(), err)
	}
}

// With --yes, nobody chooses one of several clusters.
func TestConnectGuessesNoCluster(t *testing.T) {
	const usage = "; choose one with --zone and --cluster"
	two := map[string]string{config.DefaultCluster: "us-central1-a", "other": "us-east5-b"}
	twins := map[string]string{"main": "us-central1-a", "other": "us-east5-b"}
	for name, tt := range map[string]struct {
		clusters map[string]string
		args     []string
		denied   bool
		want     string
	}{
		"there is one":                      {map[string]string{"main": "us-east5-b"}, nil, false, "error: init connect: project acme has main in us-east5-b" + usage},
		"one of several has the usual name": {two, nil, false, "error: init connect: project acme has kinetic-cluster in us-central1-a, other in us-east5-b" + usage},
		"its name is given":                 {twins, []string{"--cluster=other"}, false, "error: init connect: project acme has main in us-central1-a, other in us-east5-b" + usage},
		"its zone is given":                 {twins, []string{"--zone=us-east5-b"}, false, "error: init connect: project acme has main in us-central1-a, other in us-east5-b" + usage},
		"there is none":                     {nil, nil, false, "error: project acme has no cluster: create one with: kubectl kinetic init create --project acme"},
		"they can't be listed":              {twins, nil, true, "error: a profile needs a project, a zone and a cluster: set --zone, --cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			for name, zone := range tt.clusters {
				s.AddCluster("acme", zone, &container.Cluster{Name: name, Status: "RUNNING"})
			}
			if tt.denied {
				s.Deny("container.clusters.list")
			}
			s.SetenvOfNewMachine(t)
			code, text := connectTo(t, tt.args...)
			file, err := config.ReadProfiles(os.Getenv)
			if err != nil || file.Current != "" || !strings.Contains(text, tt.want) {
				t.Errorf("saved %q, %v: %s", file.Current, err, text)
			}
			if code != cli.ExitUsage && name != "there is none" {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// What is wrong with an answer is said at once, and the question is asked again.
func TestAnswersAreCheckedWhenTheyAreGiven(t *testing.T) {
	const project, noProject, noNamespace = "Google Cloud project (none for another cluster): ", `"My Project": expected a project id, as in my-project-123, not its name or number` + "\n",
		`"A_b": not a namespace: expected at most 63 lower-case letters, digits and '-', with a letter or digit first and last` + "\n"
	for name, tt := range map[string]struct {
		lines []string
		deny  string
		asked []string // one after another
		code  int      // 1 also if doctor finds something wrong
	}{
		"a cluster of a list": {[]string{"My Project", "acme", "9", "1", "A_b", "ml"}, "", []string{project + noProject + project,
			"Which cluster? [1]: \"9\": expected a number from 1 to 1, or a word of the list\nWhich cluster? [1]: ",
			"namespace [default]: " + noNamespace + "namespace [default]: profile main: "}, 1},
		"a cluster by its name": {[]string{"acme", "here", "us-central1-a", "My_Cluster", "main", ""}, "container.clusters.list", []string{
			"zone or region [us-central1-a]: \"here\": expected a zone or region, as in us-central1-a\nzone or region [us-central1-a]: ",
			"cluster [kinetic-cluster]: \"My_Cluster\": expected at most 40 lower-case letters, digits and '-', with a letter first\ncluster [kinetic-cluster]: ",
			"namespace [default]: profile main: "}, 1},
		"a cluster elsewhere": {[]string{"My Project", "none", "kind-dev", "", "bucket", "gs://bucket", "A_b", "ml"}, "", []string{
			noProject, "Which context of the kubeconfig? [1]: store (gs://BUCKET): expected a store (gs://BUCKET)\nstore (gs://BUCKET): bucket: expected gs://BUCKET",
			"\nstore (gs://BUCKET): namespace [default]: " + noNamespace + "namespace [default]: profile kind-dev: "}, 1},
		"a project that does not exist": {[]string{"nosuch"}, "", []string{project}, 1},
		"never a project":               {[]string{"A", "A", "A", "A", "A"}, "", []string{project + `"A": expected a project id`}, 2},
		"the end":                       {[]string{"acme"}, "", []string{"Which cluster? [1]: \n"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main", Status: "RUNNING"})
			if tt.deny != "" {
				s.Deny(tt.deny)
			}
			s.SetenvOfNewMachine(t)
			kubeconfig := `{"contexts":[{"name":"kind-dev","context":{"cluster":"kind-dev"}}],"clusters":[{"name":"kind-dev","cluster":{"server":"https://127.0.0.1:1"}}]}`
			if err := os.WriteFile(os.Getenv("KUBECONFIG"), []byte(kubeconfig), 0o600); err != nil {
				t.Fatal(err)
			}
			var errOut bytes.Buffer
			err := asking(t, nil, io.Discard, &errOut, tt.lines...).connect(t.Context())
			if code := cli.CodeOf(err); code != tt.code {
				t.Errorf("exit code %d: %v", code, err)
			}
			rest := errOut.String()
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

func TestCreateAsksWhatFlagsDoNotSay(t *testing.T) {
	for name, tt := range map[string]struct {
		flags, lines []string
		asked        string
		up           []string
		wrong        string
	}{
		"all of it": {nil, []string{"acme", "us-east5-b", "research"},
			"Google Cloud project: zone, or region of a regional cluster [us-central1-a]: name of the new cluster [kinetic-cluster]: ",
			[]string{"--project=acme", "--zone=us-east5-b", "--cluster=research"}, ""},
		"the defaults": {nil, []string{"acme", "", ""}, "[kinetic-cluster]: ", []string{"--project=acme", "--zone=us-central1-a", "--cluster=kinetic-cluster"}, ""},
		"the rest": {[]string{"--zone=us-east5-b", "-n", "ml"}, []string{"acme", "research"}, "Google Cloud project: name of the new cluster [kinetic-cluster]: ",
			[]string{"--project=acme", "--zone=us-east5-b", "--cluster=research", "--namespace=ml"}, ""},
		"nothing": {[]string{"--project=acme", "--zone=us-east5-b", "--cluster=research"}, nil, "", []string{"--project=acme", "--zone=us-east5-b", "--cluster=research"}, ""},
		"a profile": {[]string{"--profile=lab"}, []string{"", "", ""}, "Google Cloud project [acme-ml]: zone, or region of a regional cluster [us-west1-c]: name of the new cluster [lab]: ",
			[]string{"--profile=lab", "--project=acme-ml", "--zone=us-west1-c", "--cluster=lab"}, ""},
		"a profile, and another name": {[]string{"--profile=lab"}, []string{"", "", "lab2"}, "[lab]: ",
			[]string{"--profile=lab", "--project=acme-ml", "--zone=us-west1-c", "--cluster=lab2"}, ""},
		"a context": {[]string{"--context=gke_acme-ml_us-west1-c_lab"}, []string{"", "", ""}, "[lab]: ",
			[]string{"--context=gke_acme-ml_us-west1-c_lab", "--project=acme-ml", "--zone=us-west1-c", "--cluster=lab"}, ""},
		"no project": {nil, []string{"", "", "", "", ""}, "Google Cloud project: ", nil, "expected a Google Cloud project"},
		"the end":    {nil, []string{"acme"}, "zone, or region of a regional cluster [us-central1-a]: \n", nil, `no answer to "zone, or region of a regional cluster"`},
	} {
		t.Run(name, func(t *testing.T) {
			gcptest.New(t).SetenvOfNewMachine(t)
			lab := config.Profile{Name: "lab", Project: "acme-ml", Zone: "us-west1-c", Cluster: "lab", Namespace: "ml"}
			if err := config.ChangeProfiles(t.Context(), os.Getenv, func(d *config.ProfileDraft) error { return d.Put(lab) }); err != nil {
				t.Fatal(err)
			}
			kubeconfig := `{"contexts":[{"name":"gke_acme-ml_us-west1-c_lab","context":{"cluster":"lab"}}],"clusters":[{"name":"lab","cluster":{"server":"https://127.0.0.1:1"}}]}`
			if err := os.WriteFile(os.Getenv("KUBECONFIG"), []byte(kubeconfig), 0o600); err != nil {
				t.Fatal(err)
			}
			var errOut bytes.Buffer
			s := asking(t, tt.flags, io.Discard, &errOut, tt.lines...)
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
			if got := s.upArguments(); !slices.Equal(got, tt.up) {
				t.Errorf("got %q, want %q", got, tt.up)
			}
		})
	}
}
