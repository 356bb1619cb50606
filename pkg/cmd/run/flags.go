package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
)

// flags hold what was typed.
type flags struct {
	connection *connect.Flags
	own        []*pflag.FlagSet // all but the connection's, whose empty texts mean what kubectl's do
	podOnly    []string         // names of flags that a local job has no use for

	// request has the values that need no parsing.
	request api.Request
	module  string

	packageRoot         string
	backend             string
	local               bool
	nodePools           string
	labels, annotations []string
	retryOn             string
	env                 envFlags

	dryRun       string
	explain      bool
	writeOverlay string
	prepare      bool
	output       string

	detach, cancelOnInterrupt bool
	cleanup                   report.Cleanup
	timeout                   time.Duration
}

func newFlags() *flags {
	f := &flags{connection: connect.NewFlags()}
	f.request.Retries, f.request.MaxDisruptions = -1, -1
	return f
}

func (f *flags) sections() []process.Section {
	call := process.NewSection("What runs")
	f.addCall(call.Flags)
	call.Completions = map[string]cobra.CompletionFunc{"map-resume": f.completeMaps}
	placement := process.NewSection("Where it runs")
	f.addPlacement(placement.Flags)
	outcome := process.NewSection("What comes of it")
	outcome.Completions = completions()
	f.addOutcome(outcome.Flags)
	f.own = []*pflag.FlagSet{call.Flags, placement.Flags, outcome.Flags}
	placement.Flags.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(alsoLocal, flag.Name) {
			f.podOnly = append(f.podOnly, flag.Name)
		}
	})
	f.podOnly = append(f.podOnly, "chunk", "overlay", "context", "namespace", "profile", "project", "zone", "cluster")
	return []process.Section{call, placement, outcome, f.connection.Section()}
}

// alsoLocal are the flags of addPlacement that mean something to a local job too.
var alsoLocal = []string{"local", "backend", "name", "job-id", "max-runtime"}

func (f *flags) addCall(fs *pflag.FlagSet) {
	r := &f.request
	fs.StringVarP(&f.module, "module", "m", "", "Run a `MODULE` as python -m does, with the words after -- as its arguments.")
	fs.BoolVar(&r.Command, "command", false, "Run the words after -- as a command in the packaged directory.")
	fs.StringArrayVar(&r.KWArgs, "arg", nil, "An argument of the function, `NAME=VALUE`: JSON if it parses, else a string, and as typed for a parameter annotated str; NAME=@file.json reads a file.")
	fs.StringVar(&f.packageRoot, "package-root", "", "Package this `DIR`, which contains the code. KINETIC_PACKAGE_ROOT is the default, then the project that the code is in.")
	fs.BoolVar(&r.HideArgs, "no-annotate-args", false, "Leave the arguments out of the annotation that says what is called. Values of names that look secret, and of --arg NAME=@file, never stand there.")
	fs.StringVar(&r.Map, "map", "", "Call the function once for each line of a `FILE` of JSON lines, - for standard input: an object is arguments by name, an array by place, anything else the only one.")
	process.NumberVar(fs, &r.Chunk, 1, process.Unbounded, "chunk", "The `NUMBER` of inputs that a pod of a map calls the function with, one after the other. The default makes one chunk for each pod that runs at a time, of 1000 at most.")
	fs.StringVar(&r.MapResume, "map-resume", "", "Take over the values that the map `ID` of the same function and inputs has, and compute the others.")
	fs.StringArrayVarP(&f.env.Set, "env", "e", nil, "An environment variable, `NAME[=VALUE]`; a name alone is copied from here.")
	fs.StringArrayVar(&f.env.Capture, "capture-env", nil, "Copy the environment variables whose names match a `PATTERN`, such as 'AWS_*'.")
	fs.StringArrayVar(&f.env.Secret, "secret-env", nil, "Copy the environment variable `NAME` as a Kubernetes Secret: its value is in no manifest and no log.")
	fs.BoolVar(&r.Debug, "debug", false, "Let the call wait for a debugger before it begins: see kubectl kinetic jobs debug. The image needs the package debugpy. The workload stays after the end, unless --cleanup is given.")
	fs.StringVar(&r.OutputDir, "output-dir", "", "The `DIR` that KINETIC_OUTPUT_DIR names: for a pod gs://BUCKET/PREFIX or an absolute path in the container, for a local job a directory. The default is the job's own place in the store, which for a pod is a gs:// URL: open() can't write there, etils.epath, tf.io.gfile and gcsfs can.")
}

func (f *flags) addPlacement(fs *pflag.FlagSet) {
	r := &f.request
	fs.StringVarP(&r.AcceleratorText, "accelerator", "a", "cpu", "The hardware, `TYPE`: cpu, l4, a100x2, tpu-v6e-8, tpu-v5p-2x2x1, l4:spot, …")
	fs.BoolVar(&r.Spot, "spot", false, "Use spot capacity, which is cheaper and can be taken back at any time.")
	process.NumberVar(fs, &r.Hosts, 1, api.MaxHosts, "hosts", "Run on a `NUMBER` of such hosts, which find each other by environment variables; a TPU's topology says its hosts.")
	process.NumberVar(fs, &r.Slices, 1, api.MaxHosts, "slices", "Run on a `NUMBER` of such TPU slices of several hosts, joined over the network of the data center.")
	process.NumberVar(fs, &r.Parallelism, 1, api.MaxChunks, "parallelism", "The `NUMBER` of pods of a map that run at a time. The default is 16, or as many as there are chunks.")
	fs.BoolVar(&f.local, "local", false, "Run as a process of this machine, without a cluster.")
	fs.StringVar(&f.backend, "backend", "auto", "What runs the job, `BACKEND`: auto, gke (a Job), pathways (a LeaderWorkerSet, the default for several hosts; no Pathways runtime is started) or local.")
	fs.StringVar(&r.Image, "image", "", "The container image `URI` to run in; KINETIC_IMAGE is the default. It needs python3 of 3.9 or later, nothing else.")
	fs.StringVar(&r.Image, "container-image", "", "The same as --image.")
	_ = fs.MarkHidden("container-image")
	fs.StringVar(&r.Name, "name", "", "The `NAME` of the job, in place of the function's or script's name.")
	fs.StringVar(&r.JobID, "job-id", "", "The job's whole `ID`.")
	fs.StringVar(&r.CPU, "cpu", "", "CPUs of a host to ask for, a `QUANTITY` such as 4 or 500m. The default is 1 for cpu jobs, and half of the machine's for accelerators.")
	fs.StringVar(&r.Memory, "memory", "", "Memory of a host to ask for, and not to exceed, a `QUANTITY` such as 16Gi. By default cpu jobs ask for 2Gi, those with accelerators for half of the machine's, and may use more.")
	fs.StringVar(&r.Disk, "disk", "", "Local disk of a host to ask for, a `SIZE` such as 50Gi. GKE Autopilot gives a pod 1Gi by default.")
	fs.StringVar(&r.ServiceAccount, "service-account", api.DefaultServiceAccount, "The Kubernetes service account of the pod, by `NAME`.")
	fs.StringVar(&r.StoreCredentials, "store-credentials", "", "The Secret, by `NAME`, whose key.json lets the pod use the store; outside GKE a pod has no credentials of its own. KINETIC_STORE_CREDENTIALS is the default.")
	fs.StringVar(&r.Queue, "queue", "", "The Kueue queue to wait in, by `NAME`.")
	fs.StringVar(&r.Reservation, "reservation", "", "The reservation to use, by `NAME` or projects/PROJECT/reservations/NAME, with /reservationBlocks/BLOCK after that for a part of it.")
	fs.BoolVar(&r.FlexStart, "flex-start", false, "Wait for capacity of the Dynamic Workload Scheduler, which is there for 7 days at most.")
	fs.StringVar(&r.ComputeClass, "compute-class", "", "Let the ComputeClass of this `NAME` choose the machines, or use one of Autopilot's own: Accelerator, Balanced, Performance, Scale-Out.")
	fs.StringVar(&f.nodePools, "placement", "", "Where the hosts of a TPU slice go, `PLACEMENT`: exclusive (the default), a node pool to themselves, or shared, as GKE Autopilot needs it.")
	fs.BoolVar(&r.Restricted, "restricted", false, "Run as an ordinary user, without capabilities, as namespaces with the PodSecurity level restricted demand.")
	fs.StringVar(&r.PriorityClass, "priority-class", "", "The pod's priority class, by `NAME`.")
	fs.StringArrayVar(&f.labels, "label", nil, "A label for the job and its pods, `KEY=VALUE`.")
	fs.StringArrayVar(&f.annotations, "annotation", nil, "An annotation for the job and its pods, `KEY=VALUE`.")
	process.NumberVar(fs, &r.Retries, 0, api.MaxRestarts, "retries", "How often to start again after a crash, such as running out of memory; a machine that is taken back doesn't count. The default is 3 with spot capacity and for the chunks of a map, else 0.")
	fs.StringVar(&f.retryOn, "retry-on", string(api.RetryOnCrash), "What --retries are for, `crash|error`: crash is a call that was killed, as when it runs out of memory; error is also an exception or a non-zero exit code.")
	process.NumberVar(fs, &r.MaxDisruptions, 0, api.MaxRestarts, "max-disruptions", fmt.Sprintf("How often the job may lose its machine to preemption or a drain before that ends it. The default is %d.", api.DefaultMaxDisruptions))
	process.DurationVar(fs, &r.MaxRuntime, "max-runtime", "End the call, or a chunk of a map as a whole, when it has run this long: 90, 90s, 15m, 1h30m.")
}

func (f *flags) addOutcome(fs *pflag.FlagSet) {
	r := &f.request
	fs.StringVar(&f.dryRun, "dry-run", "none", "Print the manifests without applying them: `client` contacts nothing, server has the API server check them.")
	fs.Lookup("dry-run").NoOptDefVal = "client"
	fs.BoolVar(&f.explain, "explain", false, "Say what a run would do, and do nothing.")
	fs.StringVar(&r.OverlayDir, "overlay", "", "A kustomize component of yours, in `DIR`, that is applied last.")
	fs.StringVar(&f.writeOverlay, "write-overlay", "", "Write a `DIR` that kubectl kustomize renders to what --dry-run prints, and do nothing else.")
	fs.BoolVar(&f.prepare, "prepare", false, "Upload all that the job needs, and print the manifests in place of applying them: … --prepare | kubectl apply -f -")
	fs.StringVarP(&f.output, "output", "o", "", "The `FORMAT` of what is printed: yaml, json or name with --dry-run, yaml or json with --prepare, json with --explain, json or name with --detach.")
	fs.BoolVarP(&f.detach, "detach", "d", false, "Print the job's id and return as soon as it exists.")
	process.DurationVar(fs, &f.timeout, "timeout", "Wait no longer than this; the job goes on (exit code 124).")
	report.CleanupVar(fs, &f.cleanup)
	fs.BoolVar(&f.cancelOnInterrupt, "cancel-on-interrupt", false, "End the job on Ctrl-C. Local jobs end in any case.")
}

// toRequest turns the flags into what was asked for, without looking at the world.
func (f *flags) toRequest(c *cobra.Command, args []string, environ []string, getenv func(string) string) (r api.Request, env environment, err error) {
	if err := f.checkEmpty(); err != nil {
		return r, env, err
	}
	r = f.request
	if r.Backend, err = f.chooseBackend(c); err != nil {
		return r, env, err
	}
	f.env.Local = r.Backend == api.BackendLocal
	if env, err = readEnvironment(f.env, environ); err != nil {
		return r, env, err
	}
	r.Env, r.Secrets = env.Env, env.Secrets
	if r.Labels, err = pairs("--label", f.labels); err != nil {
		return r, env, err
	}
	if r.Annotations, err = pairs("--annotation", f.annotations); err != nil {
		return r, env, err
	}
	if r.NodePools, err = chooseNodePools(f.nodePools); err != nil {
		return r, env, err
	}
	if r.RetryOn, err = chooseRetryOn(f.retryOn); err != nil {
		return r, env, err
	}
	r.Image = cmp.Or(r.Image, getenv("KINETIC_IMAGE"))
	r.StoreCredentials = cmp.Or(r.StoreCredentials, getenv("KINETIC_STORE_CREDENTIALS"))
	return r, env, f.target(c, args, &r)
}

// checkEmpty rejects flags that were given an empty text, as by a variable of the shell that
// is not set: the job would be another one than was meant.
func (f *flags) checkEmpty() (err error) {
	for _, fs := range f.own {
		fs.VisitAll(func(flag *pflag.Flag) {
			if err == nil && flag.Changed && flag.Value.Type() == "string" && flag.Value.String() == "" {
				err = fmt.Errorf("--%s: the value is empty: set one, or omit the flag", flag.Name)
			}
		})
	}
	return err
}

// target sorts the words of the command line into TARGET and ARGS.
func (f *flags) target(c *cobra.Command, args []string, r *api.Request) error {
	words, rest := args, []string(nil)
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		words, rest = args[:dash], args[dash:]
	}
	r.Args = rest
	if c.Flags().Changed("module") {
		r.Module, r.Target = true, f.module
		if len(words) > 0 {
			return fmt.Errorf("TARGET %q: cannot be combined with -m %s; pass arguments to the module after --", words[0], f.module)
		}
		return nil
	}
	switch {
	case r.Command && len(words) > 0:
		return fmt.Errorf("TARGET %q: with --command, the command goes after --", words[0])
	case len(words) > 1:
		return fmt.Errorf("TARGET %q and %q: only one is allowed; pass arguments to a script after --, to a function with --arg NAME=VALUE", words[0], words[1])
	case len(words) == 1:
		r.Target = words[0]
	}
	return nil
}

func (f *flags) chooseBackend(c *cobra.Command) (api.Backend, error) {
	if f.local {
		if c.Flags().Changed("backend") && f.backend != string(api.BackendLocal) {
			return "", fmt.Errorf("--local cannot be combined with --backend %s", f.backend)
		}
		return api.BackendLocal, nil
	}
	if f.backend == "auto" {
		return "", nil
	}
	valid := []string{"auto", string(api.BackendGKE), string(api.BackendPathways), string(api.BackendLocal)}
	if !slices.Contains(valid, f.backend) {
		return "", oneOf("--backend", f.backend, valid)
	}
	return api.Backend(f.backend), nil
}

func chooseNodePools(text string) (api.NodePools, error) {
	valid := []string{string(api.NodePoolsExclusive), string(api.NodePoolsShared)}
	if text != "" && !slices.Contains(valid, text) {
		return "", oneOf("--placement", text, valid)
	}
	return api.NodePools(text), nil
}

// chooseRetryOn returns the zero value for the default, which the job's records leave out.
func chooseRetryOn(text string) (api.RetryOn, error) {
	switch on := api.RetryOn(text); on {
	case api.RetryOnCrash:
		return "", nil
	case api.RetryOnError:
		return on, nil
	default:
		return "", oneOf("--retry-on", text, retryOns())
	}
}

func retryOns() []string { return []string{string(api.RetryOnCrash), string(api.RetryOnError)} }

func oneOf(flag, value string, valid []string) error {
	msg := fmt.Sprintf("%s %q: expected one of %s", flag, value, strings.Join(valid, ", "))
	if s := nearest.Sentence(value, valid); s != "" {
		msg += "; " + s
	}
	return errors.New(msg)
}

func pairs(flag string, words []string) (map[string]string, error) {
	m := make(map[string]string, len(words))
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%s %q: expected KEY=VALUE", flag, w)
		}
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("%s %s: given twice", flag, key)
		}
		m[key] = value
	}
	return m, nil
}
