// Package doctor is the command `kubectl kinetic doctor`, which looks for what keeps jobs from running.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/versions"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/runner"
)

const doctorLong = `Check what jobs need, in at most three seconds: the programs of this machine, the
cluster, the namespace and your rights there, the store, and on GKE the project. One
line each: ✓ there, ✗ missing, with the command that fixes it, – skipped: not
applicable, not visible, or blocked by a failed check. In a pipe these are ok, wrong
and skipped.

Nothing is changed without --fix. --deep starts a pod and removes it.

Exit codes: 0 nothing is wrong; 1 something is; 2 the command line is wrong; 130
interrupted.`

const doctorExamples = `  # what keeps jobs from running?
  kubectl kinetic doctor

  # is there all that a job on this accelerator needs?
  kubectl kinetic doctor -a tpu-v6e-8

  # create the service account and Roles that a namespace lacks
  kubectl kinetic doctor --fix -n research

  # can the pods of jobs use the store?
  kubectl kinetic doctor --deep

  # the names of what is wrong, for a script
  kubectl kinetic doctor -o json | jq -r '.checks[] | select(.state == "wrong").name'`

type flags struct {
	accelerator, backend, queue, output, image string
	fix, deep                                  bool
	connection                                 *connect.Flags
}

// NewCommand returns the command `kubectl kinetic doctor`.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	f := &flags{connection: connect.NewFlags()}
	c := &cobra.Command{
		Use:               "doctor [flags]",
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic doctor"},
		Short:             "Check what jobs need, and show how to fix problems",
		Long:              doctorLong,
		Example:           doctorExamples,
		Args:              cli.NoArguments(""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cli.RunE(func(ctx context.Context, _ []string) error { return f.run(ctx, streams, now) }),
	}
	cli.AddSections(c, f.section(), f.connection.Section())
	return c
}

// Run checks what is in force, as the command does without flags of its own.
func Run(ctx context.Context, streams genericiooptions.IOStreams, now clock.PassiveClock, connection *connect.Flags) error {
	return (&flags{connection: connection}).run(ctx, streams, now)
}

func (f *flags) run(ctx context.Context, streams genericiooptions.IOStreams, now clock.PassiveClock) error {
	o, err := f.toOptions(streams, now)
	if err != nil {
		return cli.Usage(err)
	}
	return o.run(ctx)
}

func (f *flags) section() cli.Section {
	s := cli.NewSection("Flags")
	fs := s.Flags
	fs.StringVarP(&f.accelerator, "accelerator", "a", "", "Check what jobs on `TYPE` need, such as l4 or tpu-v6e-8. Default: what any job may need.")
	fs.StringVar(&f.backend, "backend", "", "Also check what jobs with `BACKEND` need: auto, gke, lws or pathways. pathways requires --accelerator.")
	s.Offer("backend", string(api.BackendGKE), string(api.BackendLWS), string(api.BackendPathways))
	fs.StringVar(&f.queue, "queue", "", "Check that the namespace has the Kueue queue `NAME`.")
	fs.BoolVar(&f.deep, "deep", false, "Also start a pod that accesses the store with the service account of jobs, then delete it. Takes up to three minutes.")
	fs.StringVar(&f.image, "image", "", "Run the pod of --deep from the image `URI`, which needs python3. Default: KINETIC_IMAGE, KINETIC_BASE_IMAGE, "+doctor.TrialImage+".")
	fs.BoolVar(&f.fix, "fix", false, "Fix what is safe to fix: create the service account and missing Roles of manifests/rbac, and limit the lifecycle rule that deletes results in keras-kinetic's buckets.")
	s.FormatVar(&f.output, "Output `FORMAT`: json or yaml.", cli.Formats()...)
	s.Completions["accelerator"] = cli.CompleteInOrder(accelerator.Complete)
	return s
}

type options struct {
	streams genericiooptions.IOStreams
	now     clock.PassiveClock
	output  string
	fix     bool
	// kubectl are the flags of kubectl for the cluster, "" for none.
	kubectl string
	machine doctor.MachineOptions
	cluster doctor.ClusterOptions
	google  doctor.GoogleOptions
	// trial is a pod to start, nil for none.
	trial *doctor.TrialOptions
}

// wanted returns what jobs will run on, nil for anything.
func (f *flags) wanted() (*api.Accelerator, error) {
	if f.backend != "" {
		if err := cli.OneOf("--backend", f.backend, []string{"auto", string(api.BackendGKE), string(api.BackendLWS), string(api.BackendPathways)}); err != nil {
			return nil, err
		}
	}
	backend := api.Backend(f.backend)
	if f.accelerator == "" && backend != api.BackendPathways {
		return nil, nil
	}
	if f.accelerator == "" {
		return nil, errors.New("--backend pathways requires --accelerator, such as -a v6e-16")
	}
	a, err := accelerator.Parse(f.accelerator, accelerator.Options{Backend: backend})
	if err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	if backend == api.BackendPathways {
		err = accelerator.CheckPathways(a)
	}
	return &a, err
}

func (f *flags) toOptions(streams genericiooptions.IOStreams, now clock.PassiveClock) (*options, error) {
	o := &options{streams: streams, now: now, output: f.output, fix: f.fix}
	wanted, err := f.wanted()
	if err != nil {
		return nil, err
	}
	o.machine.Version = version.String()
	if executable, err := os.Executable(); err == nil {
		o.machine.Dir = filepath.Dir(executable)
	}
	where, unread, err := f.where()
	o.kubectl = f.connection.Kubectl(where)
	o.cluster = doctor.ClusterOptions{
		Target: where, Problem: err, Accelerator: wanted, Queue: f.queue, Pathways: f.backend == string(api.BackendPathways), Now: now.Now,
		Client:     versions.Client{Version: version.String(), Runners: []string{runner.SHA256(), runner.WarmSHA256()}},
		FixCommand: "kubectl kinetic doctor --fix" + f.connection.Given() + " -n " + cmp.Or(where.Namespace, "NAMESPACE"),
	}
	if unread == nil && err != nil && where.GKE && where.Project != "" && where.Context == "" {
		o.cluster.ProblemNeeds = doctor.GKECheck // without a cluster, it needs no context
	}
	if err == nil {
		o.machine.Program, o.machine.Install = f.connection.CredentialProgram(where)
		if o.cluster.Config, o.cluster.Problem = f.connection.REST(where); o.cluster.Problem == nil {
			o.cluster.Config = doctor.Repeating(o.cluster.Config)
		}
	}
	o.google = doctor.GoogleOptions{
		Target: where, Problem: unread, Env: os.Getenv, Accelerator: wanted, IdentityNeeds: doctor.APIServer, FixCommand: o.cluster.FixCommand,
		Images: cmp.Or(os.Getenv("KINETIC_IMAGE_REPO"), where.ImageRepo, config.Repository(where.Project, where.Zone, where.Cluster)),
	}
	if o.cluster.Pathways {
		o.google.Runtime = runtimeOf(where)
	}
	if o.cluster.Problem == nil {
		o.google.Identity = doctor.Identity(o.cluster)
		if wanted != nil {
			o.google.Nodes = doctor.Nodes(o.cluster)
		}
	}
	if unread != nil && unread.Error() == err.Error() {
		o.google.ToldBy = doctor.Kubeconfig
	}
	if f.deep {
		o.trial = &doctor.TrialOptions{
			Config: o.cluster.Config, Namespace: where.Namespace, Store: where.Store, ServiceAccount: api.DefaultServiceAccount,
			Image: f.trialImage(where), Interval: time.Second, Now: now.Now, Env: map[string]string{},
		}
		for _, name := range []string{api.EnvStorageEmulator, api.EnvMetadataHost} {
			if value := os.Getenv(name); value != "" {
				o.trial.Env[name] = value
			}
		}
	} else if f.image != "" {
		return nil, cli.Usagef("--image is for the pod of --deep: add --deep, or omit it")
	}
	return o, nil
}

func runtimeOf(where config.Target) *doctor.RuntimeImages {
	return &doctor.RuntimeImages{
		Repository: cmp.Or(os.Getenv("KINETIC_PATHWAYS_IMAGES"), where.PathwaysImages, image.PathwaysRepository),
		Registry:   &image.Client{Keys: authn.DefaultKeychain, UserAgent: "kubectl-kinetic/" + version.String()},
	}
}

// where returns what is known of where jobs run: without a cluster the project, the store and the
// namespace. unread is why not even these are known, and err why there is no cluster.
func (f *flags) where() (where config.Target, unread, err error) {
	if where, err = f.connection.ResolveJobs(); err == nil {
		return where, nil, nil
	}
	where, unread = f.connection.ResolveStored()
	return where, unread, err
}

// trialImage returns the image of the pod of --deep: the first that is named.
func (f *flags) trialImage(where config.Target) string {
	own := os.Getenv("KINETIC_IMAGE")
	if own == "bundled" || own == "prebuilt" {
		own = ""
	}
	return cmp.Or(f.image, own, os.Getenv("KINETIC_BASE_IMAGE"), where.BaseImage, doctor.TrialImage)
}

func (o *options) checks() []doctor.Check {
	project, store := doctor.GoogleChecks(o.google)
	return slices.Concat(doctor.MachineChecks(o.machine), project, doctor.ClusterChecks(o.cluster), store)
}

type report struct {
	Context   string          `json:"context,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Store     string          `json:"store,omitempty"`
	Wrong     int             `json:"wrong"`
	Checks    []doctor.Result `json:"checks"`
}

func (o *options) run(ctx context.Context) error {
	results := doctor.Run(ctx, o.checks())
	if o.fix && ctx.Err() == nil && o.repair(ctx, results) {
		results = doctor.Run(ctx, o.checks())
	}
	if o.trial != nil && ctx.Err() == nil {
		results = append(results, o.try(ctx, results))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, r := range results {
		results[i].Detail, results[i].Fix = human.AddToKubectl(r.Detail, o.kubectl), human.AddToKubectl(r.Fix, o.kubectl)
	}
	if err := o.print(results); err != nil {
		return err
	}
	if wrong := doctor.Count(results, doctor.Wrong); wrong > 0 {
		return fmt.Errorf("%d of %d checks failed", wrong, len(results))
	}
	return nil
}

// try starts the pod of --deep, unless it would fail for what is known to be wrong.
func (o *options) try(ctx context.Context, results []doctor.Result) doctor.Result {
	result := doctor.Result{Group: "Pod in namespace " + o.trial.Namespace, Name: "store from a pod"}
	for _, need := range []string{doctor.APIServer, doctor.Namespace, doctor.Account, doctor.StoreCheck} {
		at := slices.IndexFunc(results, func(r doctor.Result) bool { return r.Name == need })
		if at < 0 || results[at].State == doctor.Wrong || results[at].Missing() != "" {
			result.Finding = doctor.Skip("needs: %s", need)
			return result
		}
	}
	out := ui.New(o.streams.ErrOut, o.now.Now)
	out.Note("starting a pod of " + o.trial.Image + " in namespace " + o.trial.Namespace)
	o.trial.Tell = func(why string) { out.Note("the pod waits: " + why) }
	result.Finding = doctor.RunTrial(ctx, *o.trial)
	return result
}

func (o *options) repair(ctx context.Context, results []doctor.Result) bool {
	out := ui.New(o.streams.ErrOut, o.now.Now)
	changed := false
	for _, r := range doctor.Repair(ctx, results) {
		if r.Did != "" {
			out.Note(r.Did)
			changed = true
		}
		if r.Err != nil {
			out.Warn(r.Err.Error())
		}
	}
	return changed
}

func (o *options) print(results []doctor.Result) error {
	if o.output != "" {
		t := o.cluster.Target
		return cli.Write(o.streams.Out, o.output, report{t.Context, t.Namespace, t.Store, doctor.Count(results, doctor.Wrong), results})
	}
	style, m := ui.Detect(o.streams.Out), asciiMarks()
	if style.Redraw && ui.IsUTF8(os.Getenv) {
		m = unicodeMarks()
	}
	return printResults(o.streams.Out, results, m, style)
}
