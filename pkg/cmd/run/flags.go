package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

type flags struct {
	connection *connect.Flags
	own        []*pflag.FlagSet // all but the connection's, where empty texts mean what they mean to kubectl
	podOnly    []string         // names of the flags that a local job ignores, with a note

	like    string
	earlier *earlier // the job of --like, once it is found

	// request has the values that need no parsing.
	request api.Request
	module  string

	uploadLimit         string
	disk                string
	spot                bool
	packageRoot         string
	backend             string
	local               bool
	nodePools           string
	network             string
	labels, annotations []string
	retryOn, hangAction string
	keepWarm            string
	env                 envFlags

	dryRun       string
	explain      bool
	writeOverlay string
	prepare      bool
	output       string
	fetch        string // --outputs
	outputFile   string

	detach, cancelOnInterrupt bool
	forward                   []string
	cleanup                   report.Cleanup
	timeout                   time.Duration
}

func newFlags() *flags {
	f := &flags{connection: connect.NewFlags()}
	f.request.Retries, f.request.MaxDisruptions = -1, -1
	return f
}

func (f *flags) sections() []cli.Section {
	call := cli.NewSection("What runs")
	call.Topic = "code"
	f.addCall(call.Flags)
	call.Completions["arg"] = f.completeArg
	call.Completions["map-resume"] = f.completeMaps
	call.Completions["resume-from"], call.Completions["like"] = f.completeJobs, f.completeJobs
	call.Completions["data"], call.Completions["volume"] = completeSource, completeSource
	call.Completions["env"], call.Completions["secret-env"] = completeVariables, completeVariables
	placement := cli.NewSection("Where it runs")
	placement.Topic = "placement"
	f.addPlacement(placement.Flags)
	f.addWarm(placement)
	completePlacement(placement)
	packages := cli.NewSection("Packages and image")
	packages.Topic = "packages"
	f.addPackages(packages)
	outcome := cli.NewSection("Output")
	outcome.Topic = "output"
	f.addOutcome(outcome)
	f.own = []*pflag.FlagSet{call.Flags, packages.Flags, placement.Flags, outcome.Flags}
	// alsoLocal are the flags of addPlacement that also apply to a local job, which ignores the others.
	alsoLocal := []string{"local", "backend", "name", "job-id", "max-runtime", "hang-timeout", "hang-action", "processes-per-host"}
	for _, fs := range []*pflag.FlagSet{packages.Flags, placement.Flags} {
		fs.VisitAll(func(flag *pflag.Flag) {
			if !slices.Contains(alsoLocal, flag.Name) {
				f.podOnly = append(f.podOnly, flag.Name)
			}
		})
	}
	f.podOnly = append(f.podOnly, "chunk", "overlay", "context", "namespace", "profile", "project", "zone", "cluster")
	connection := f.connection.Section()
	connection.Topic = "connection"
	return []cli.Section{call, packages, placement, outcome, connection}
}

// commonFlags are what --help shows; --help=all shows the others, too.
func commonFlags() []string {
	return []string{
		"arg", "data", "map", "env", "secret-env", "accelerator", "spot", "hosts", "local", "cpu", "memory", "retries",
		"requirements", "image", "dry-run", "explain", "overlay", "output", "detach", "outputs", "resume-from", "namespace", "context",
		"project", "store",
	}
}

func (f *flags) addCall(fs *pflag.FlagSet) {
	r := &f.request
	fs.StringVarP(&f.module, "module", "m", "", "Run `MODULE` as python -m does; its arguments follow --.")
	fs.BoolVar(&r.Command, "command", false, "Run the command after -- in the packaged directory.")
	fs.StringVar(&r.Payload, "payload", "", "Call the pickled function in `FILE` with its arguments. TARGET is then a Python file whose project is packaged; default: that of the working directory.")
	fs.StringArrayVar(&r.KWArgs, "arg", nil, "Pass `NAME=VALUE` to the function: JSON if it parses, else a string; as typed for a parameter annotated str. NAME=@file.json reads a file.")
	fs.StringArrayVar(&r.Data, "data", nil, "Pass the path of files to the function as `NAME=SRC`, and as KINETIC_DATA_NAME. SRC is a local file or directory, gs://BUCKET/FOLDER, hf://OWNER/NAME or pvc://CLAIM/FOLDER; SRC,fuse mounts it instead of copying, and SRC,fuse,cache=SIZE keeps what was read on the disk.")
	fs.StringArrayVar(&r.Volumes, "volume", nil, "Put files at a fixed path in the pod, `/MOUNT=SRC`. SRC,fuse mounts it instead of copying; SRC,fuse,rw lets the job write to a bucket, pvc://CLAIM,rw to a claim.")
	fs.StringVar(&f.packageRoot, "package-root", "", "Package `DIR`, which must contain the code. Default: KINETIC_PACKAGE_ROOT, else the project of the code.")
	fs.BoolVar(&r.HideArgs, "no-annotate-args", false, "Keep arguments out of the workload's annotation. Values that look secret, and files, are never in it.")
	fs.StringVar(&r.Map, "map", "", "Call the function once for each line of `FILE` (JSON lines; - for standard input). An object is passed as keyword arguments, an array as positional ones, anything else as the only one.")
	cli.NumberVar(fs, &r.Chunk, 1, cli.Unbounded, "chunk", "Give each pod of a map `NUMBER` inputs. Default: one chunk per parallel pod, at most 1000.")
	fs.StringVar(&r.MapResume, "map-resume", "", "Reuse the values of the map `ID`, which had the same function and inputs, and compute the rest; --last for the job you submitted last.")
	fs.StringArrayVarP(&f.env.Set, "env", "e", nil, "Set an environment variable, `NAME[=VALUE]`; without a value it is copied from this shell.")
	fs.StringArrayVar(&f.env.Capture, "capture-env", nil, "Copy the environment variables that match `PATTERN`, such as 'AWS_*'.")
	fs.StringArrayVar(&f.env.Secret, "secret-env", nil, "Copy the environment variable `NAME` as a Kubernetes Secret, never into manifests or logs.")
	fs.BoolVar(&r.Debug, "debug", false, "Wait for a debugger before the call (see kubectl kinetic jobs debug). An image of your own needs debugpy. The workload is kept unless --cleanup is given.")
	fs.StringVar(&r.OutputDir, "output-dir", "", "Set KINETIC_OUTPUT_DIR to `DIR`: gs://BUCKET/PREFIX or an absolute path in the container; a directory for local jobs. Default: the job's own place in the store. Programs can write there with open() too.")
	cli.IntervalVar(fs, &r.OutputSync, "output-sync", "Save finished outputs of a running call every `DURATION`, 0 for only at its end. Default: 30s.")
	fs.BoolVar(&r.OutputMount, "output-mount", false, "Write outputs to the bucket through Cloud Storage FUSE instead of saving them from the pod's disk: for files that are larger than the disk and written sequentially.")
	fs.StringVar(&r.CacheSize, "cache-size", "", "Keep a compilation cache (JAX, torch.compile, Triton) of at most `SIZE` in KINETIC_CACHE_DIR, for your next jobs of the project on the accelerator; 0 for none. Default: KINETIC_CACHE_SIZE, the profile's, or 2Gi.")
	fs.BoolVar(&r.NoCache, "no-cache", false, "Neither use nor keep a compilation cache.")
	fs.StringVar(&f.like, "like", "", "Repeat the call of the job `ID`, or --last, with the current code; omit TARGET. Other flags change the call: --arg lr=0.1.")
	fs.StringVar(&r.ResumeFrom, "resume-from", "", "Begin with a copy of the outputs of the job `ID`, or --last.")
}

func (f *flags) addPlacement(fs *pflag.FlagSet) {
	r := &f.request
	fs.StringVarP(&r.AcceleratorText, "accelerator", "a", "cpu", "Run on `TYPE`: cpu, l4, a100x2, tpu-v6e-8, tpu-v5p-2x2x1, l4:spot, …")
	fs.BoolVar(&f.spot, "spot", false, "Use spot capacity: cheaper, but can be preempted at any time.")
	cli.NumberVar(fs, &r.Hosts, 1, api.MaxHosts, "hosts", "Run on `NUMBER` hosts. For TPUs, the topology determines the number.")
	cli.NumberVar(fs, &r.Slices, 1, api.MaxHosts, "slices", "Run on `NUMBER` multi-host TPU slices, joined over the data center network.")
	cli.NumberVar(fs, &r.Parallelism, 1, api.MaxChunks, "parallelism", "Run `NUMBER` pods of a map at a time. Default: 16, or the number of chunks if that is less.")
	fs.StringVar(&f.network, "network", autoNetwork, "Let the GPUs of several hosts talk over `NETWORK`: auto (the machines' own network, if the node pool has it; never rdma with --queue), rdma (H200, B200, GB200), tcpxo (H100 Mega) or tcp.")
	fs.BoolVar(&f.local, "local", false, "Run as a process on this machine, without a cluster.")
	fs.StringVar(&f.backend, "backend", autoBackend, "Run the job with `BACKEND`: auto, gke (a Job), lws (a LeaderWorkerSet; the default for several hosts), pathways (the Pathways runtime: one process sees all chips) or local.")
	fs.StringVar(&r.Name, "name", "", "Use `NAME` in the job ID instead of the function's or script's name.")
	fs.StringVar(&r.JobID, "job-id", "", "Use `ID` as the job ID.")
	fs.StringVar(&r.CPU, "cpu", "", "Request `QUANTITY` CPUs per host, such as 4 or 500m. Default: KINETIC_CPU, the profile's, 1, or half of an accelerator's machine.")
	fs.StringVar(&r.Memory, "memory", "", "Request `QUANTITY` of memory per host, such as 16Gi, and limit it to that. Default: KINETIC_MEMORY, the profile's, or, without a limit, 2Gi, or half of an accelerator's machine.")
	fs.StringVar(&f.disk, "disk", "", "Request `SIZE[,CLASS]` of disk per host, such as 50Gi: of the node's, or a volume of a StorageClass. Default: what the data needs.")
	fs.StringVar(&r.ServiceAccount, "service-account", api.DefaultServiceAccount, "Run as the Kubernetes service account `NAME`.")
	fs.StringVar(&r.StoreCredentials, "store-credentials", "", "Access the store with key.json of the Secret `NAME`; needed outside GKE. Default: KINETIC_STORE_CREDENTIALS.")
	fs.StringVar(&r.Queue, "queue", "", "Submit to the Kueue LocalQueue `NAME`.")
	fs.StringVar(&r.Reservation, "reservation", "", "Use the reservation `NAME`, or projects/PROJECT/reservations/NAME; append /reservationBlocks/BLOCK for one block.")
	fs.BoolVar(&r.FlexStart, "flex-start", false, "Use flex-start capacity (Dynamic Workload Scheduler), for at most 7 days.")
	fs.StringVar(&r.ComputeClass, "compute-class", "", "Use the ComputeClass `NAME`, or one of Autopilot's: Accelerator, Balanced, Performance, Scale-Out.")
	fs.StringVar(&r.Pathways.Version, "pathways-version", "", "Use the Pathways runtime with the tag `VERSION`. Default: the one for the job's JAX, such as jax-0.9.2.")
	fs.StringVar(&r.Pathways.Images, "pathways-images", "", "Take the images of the Pathways runtime from `REPOSITORY`, a mirror of Google's. Default: KINETIC_PATHWAYS_IMAGES, else the profile's.")
	fs.StringArrayVar(&r.Pathways.XLAFlags, "xla-flag", nil, "Pass `--xla_NAME=VALUE` to the compiler of the Pathways runtime, which ignores XLA_FLAGS.")
	fs.BoolVar(&r.Pathways.NoNetworkPolicy, "no-network-policy", false, "Create no NetworkPolicy with --backend pathways; without one, any pod that reaches the runtime can use the chips.")
	fs.StringVar(&f.nodePools, "slice-node-pool", "", "Run the hosts of a TPU slice in a node pool of this `KIND`: exclusive to the slice (the default), or shared (for GKE Autopilot).")
	fs.BoolVar(&r.Restricted, "restricted", false, "Run as non-root and without capabilities, as the PodSecurity level restricted requires.")
	fs.StringVar(&r.PriorityClass, "priority-class", "", "Use the PriorityClass `NAME`.")
	fs.StringArrayVar(&f.labels, "label", nil, "Add the label `KEY=VALUE` to the job and its pods.")
	fs.StringArrayVar(&f.annotations, "annotation", nil, "Add the annotation `KEY=VALUE` to the job and its pods.")
	cli.NumberVar(fs, &r.Retries, 0, api.MaxRestarts, "retries", "Retries after a crash, such as running out of memory; lost machines don't count. Default: 3 with spot capacity and for chunks of a map, else 0.")
	fs.StringVar(&f.retryOn, "retry-on", string(api.RetryOnCrash), "Retry on `crash|error`: crash means killed, for example out of memory; error adds exceptions and non-zero exit codes.")
	cli.NumberVar(fs, &r.MaxDisruptions, 0, api.MaxRestarts, "max-disruptions", fmt.Sprintf("Lost machines (preemption, drain) that the job survives. Default: %d.", api.DefaultMaxDisruptions))
	cli.DurationVar(fs, &r.MaxRuntime, "max-runtime", "End the call, or a whole chunk of a map, after this time: 90, 90s, 15m, 1h30m. Each start after a lost machine or a crash has all of it.")
	fs.StringVar(&r.Processes, "processes-per-host", "", "Start the call `N|auto` times on each host, as torchrun does: with RANK, LOCAL_RANK and WORLD_SIZE. If one fails, all end. The result is the value of rank 0. auto is one process for each GPU for PyTorch, and 1 for JAX.")
	cli.DurationVar(fs, &r.HangTimeout, "hang-timeout", "Print the stacks of the call's threads when it has printed, written and finished nothing for this time. Default: never.")
	fs.StringVar(&f.hangAction, "hang-action", string(api.HangStacks), "What --hang-timeout does: stacks, or restart, which also ends the attempt, so that --retries apply.")
	cli.DollarsVar(fs, &r.MaxCost, "max-cost", "End the call once all its attempts together have cost `AMOUNT` in US dollars, such as 5 or 2.50, at list prices.")
}

func (f *flags) addWarm(s cli.Section) {
	w, fs := &f.request.KeepWarm, s.Flags
	fs.StringVar(&f.keepWarm, "keep-warm", "", "Keep the pod for `DURATION[,LEVEL]` after the call, such as 10m, and reuse it for similar calls. LEVEL is preloaded (the default: packages that earlier calls used are already imported), process (calls share a process, and what kinetic.keep holds there), or clean (each call has a new Python). Calls end after 24h unless --max-runtime is given. Default: KINETIC_KEEP_WARM, else the profile's; 0 keeps none.")
	s.Offer("keep-warm", cli.KeepWarmExamples()...)
	fs.BoolVar(&w.Only, "warm-only", false, "Fail if no warm host can be reused, instead of starting one.")
	fs.BoolVar(&w.Fresh, "fresh", false, "Start a new warm host instead of reusing one.")
	fs.BoolVar(&w.Wait, "warm-wait", false, "Wait for a warm host that is busy or starting, instead of starting another.")
	cli.DurationVar(fs, &w.Limit, "warm-limit", "Start no more calls on a new warm host after this time. Default: 2h.")
}

func (f *flags) addPackages(s cli.Section) {
	r, fs := &f.request, s.Flags
	i := &r.Images
	fs.StringVar(&r.Image, "image", "", "Run in the container image `URI`, which needs only python3 3.9 or newer and gets no packages; or choose how the job gets its packages: bundled (in an image made for them; the default) or prebuilt (installed by the pod). Default: KINETIC_IMAGE.")
	s.Offer("image", string(decide.Bundled), string(decide.Prebuilt))
	fs.StringVar(&r.Image, "container-image", "", "Same as --image.")
	_ = fs.MarkHidden("container-image")
	fs.StringVar(&i.Requirements, "requirements", "", "Install what `FILE` lists: requirements.txt, pyproject.toml, uv.lock, pylock.toml or a script. Default: the script's own metadata, else the nearest such file at or above the code.")
	fs.StringSliceVar(&i.Extras, "extra", nil, "Also install the optional dependencies `NAME` of pyproject.toml.")
	fs.StringSliceVar(&i.Groups, "group", nil, "Also install the dependency group `NAME` of pyproject.toml.")
	fs.BoolVar(&i.NoDeps, "no-deps", false, "Install nothing of what the project lists.")
	fs.BoolVar(&i.RefreshDeps, "refresh-deps", false, "Look for newer versions of packages that the project doesn't pin.")
	fs.StringVar(&i.Runtime, "runtime", "", "Add JAX and Keras by `RUNTIME`: auto (with an accelerator, unless the project uses another framework, such as PyTorch; the default), jax (always) or none.")
	s.Offer("runtime", decide.Runtimes()...)
	fs.StringVar(&i.Python, "python", "", "Use Python `X.Y` in the job. Default: the version of this machine's python3.")
	s.Offer("python", decide.Pythons()...)
	fs.StringVar(&i.BaseImage, "base-image", "", "Install packages on top of the image `URI`. Default: KINETIC_BASE_IMAGE, else Docker's python:X.Y-slim-bookworm.")
	fs.StringVar(&i.BaseImageRepo, "base-image-repo", "", "Install packages on the images that build-image made in `REPOSITORY`. Default: KINETIC_BASE_IMAGE_REPO.")
	fs.StringVar(&i.ImageRepo, "image-repo", "", "Push images to `REPOSITORY`. Default: KINETIC_IMAGE_REPO, else the cluster's in Artifact Registry.")
	fs.StringVar(&i.Builder, "builder", "", "Make images with `BUILDER`: client (this machine), cloudbuild, or auto (this machine if it can; the default).")
	s.Offer("builder", decide.Builders()...)
	fs.StringVar(&f.uploadLimit, "image-upload-limit", "", "Send at most `SIZE` of packages from this machine. Default: 512Mi.")
	fs.BoolVar(&i.NoImageCheck, "no-image-check", false, "Don't check whether an image of your own exists and fits the machine.")
	fs.BoolVar(&i.VerifyLayers, "verify-layers", false, "Rebuild all layers; don't reuse layers built by others.")
}

func (f *flags) addOutcome(s cli.Section) {
	r, fs := &f.request, s.Flags
	fs.StringVar(&f.dryRun, "dry-run", "none", "Print the manifests without applying them: none, client or server. client, or no value, contacts nothing; server has the API server check them.")
	fs.Lookup("dry-run").NoOptDefVal = "client"
	s.Offer("dry-run", "none", "client", "server")
	fs.BoolVar(&f.explain, "explain", false, "Explain what a run would do, and do nothing.")
	fs.StringVar(&r.OverlayDir, "overlay", "", "Apply the kustomize component in `DIR` last.")
	fs.StringVar(&f.writeOverlay, "write-overlay", "", "Write to `DIR` a kustomization that renders what --dry-run prints, and do nothing else.")
	fs.BoolVar(&f.prepare, "prepare", false, "Upload what the job needs and print the manifests instead of applying them: … --prepare | kubectl apply --server-side -f -")
	fs.StringVarP(&f.output, "output", "o", "", "Print as `FORMAT`: yaml, json or name with --dry-run; yaml or json with --prepare; json with --explain or --write-overlay; json or name with --detach; inputs with --map.")
	s.Offer("output", "yaml", "json", "name", report.InputsFormat)
	fs.BoolVarP(&f.detach, "detach", "d", false, "Print the job ID and return once the job is submitted.")
	cli.DurationVar(fs, &f.timeout, "timeout", "Stop waiting after this time (exit code 124); the job keeps running.")
	fs.StringArrayVar(&f.forward, "forward", nil, "Forward the port `LOCAL[:REMOTE]` of this machine to the job while it is followed: 6006 for TensorBoard, 0:6006 for any free port.")
	fs.StringVar(&f.fetch, "outputs", "", "Copy what the job wrote to KINETIC_OUTPUT_DIR to `DIR` at the end, also after a failure.")
	fs.StringVar(&f.outputFile, "output-file", "", "Write what the function of --payload returned or raised to `FILE`, as a pickle. Default: print the value as JSON.")
	report.CleanupVar(s, &f.cleanup)
	fs.BoolVar(&f.cancelOnInterrupt, "cancel-on-interrupt", false, "Cancel the job on Ctrl-C (local jobs always are), or the build of its image.")
}

// toRequest turns the flags into a Request, without looking at anything else.
func (f *flags) toRequest(c *cobra.Command, args []string, environ []string, getenv func(string) string) (r api.Request, env variables, err error) {
	if err := f.checkEmpty(); err != nil {
		return r, env, err
	}
	r = f.request
	if r.Backend, err = f.chooseBackend(); err != nil {
		return r, env, err
	}
	if r.Accelerator, err = accelerator.Parse(r.AcceleratorText, accelerator.Options{Spot: f.spot, Backend: r.Backend}); err != nil {
		return r, env, fmt.Errorf("--%w", err)
	}
	f.env.Local = r.Backend == api.BackendLocal
	if env, err = readEnvironment(f.env, environ); err != nil {
		return r, env, err
	}
	r.Env, r.Secrets = env.Env, env.Secrets
	r.Disk, r.DiskClass, _ = strings.Cut(f.disk, ",")
	if r.Labels, err = pairs("--label", f.labels); err != nil {
		return r, env, err
	}
	if r.Annotations, err = pairs("--annotation", f.annotations); err != nil {
		return r, env, err
	}
	if err := f.chooseWords(&r); err != nil {
		return r, env, err
	}
	if err := chooseKeepWarm(&r.KeepWarm, f.keepWarm, getenv); err != nil {
		return r, env, err
	}
	if err := f.readImages(&r, getenv); err != nil {
		return r, env, err
	}
	if err := chooseCacheSize(&r, getenv); err != nil {
		return r, env, err
	}
	r.StoreCredentials = cmp.Or(r.StoreCredentials, getenv("KINETIC_STORE_CREDENTIALS"))
	r.Pathways.Images = cmp.Or(r.Pathways.Images, getenv("KINETIC_PATHWAYS_IMAGES"))
	chooseOutputDir(&r, &env, getenv)
	return r, env, f.target(c, args, &r)
}

// chooseOutputDir takes the directory of outputs from the variable if no flag names it. A local job never writes to a bucket:
// it may be a rehearsal.
func chooseOutputDir(r *api.Request, env *variables, getenv func(string) string) {
	from, dir := "--output-dir", r.OutputDir
	if dir == "" && getenv("KINETIC_JOB_ID") == "" { // in a job, the variable has that job's directory
		from, dir = "KINETIC_OUTPUT_DIR", getenv("KINETIC_OUTPUT_DIR")
	}
	switch {
	case r.Backend == api.BackendLocal && strings.HasPrefix(dir, store.BucketScheme):
		r.OutputDir = ""
		env.Notes = append(env.Notes, fmt.Sprintf("ignored with --local: %s %s", from, dir))
	case r.OutputDir == "" && dir != "":
		r.OutputDir = dir
		env.Notes = append(env.Notes, "outputs go to "+dir+" (KINETIC_OUTPUT_DIR)")
	}
}

// readImages completes what the flags say about images.
func (f *flags) readImages(r *api.Request, getenv func(string) string) error {
	i := &r.Images
	r.Image = cmp.Or(r.Image, getenv("KINETIC_IMAGE"))
	i.ImageRepo = cmp.Or(i.ImageRepo, getenv("KINETIC_IMAGE_REPO"))
	if i.BaseImage == "" && i.BaseImageRepo == "" {
		i.BaseImage = getenv("KINETIC_BASE_IMAGE")
		if i.BaseImage == "" {
			i.BaseImageRepo = getenv("KINETIC_BASE_IMAGE_REPO")
		}
	}
	_, runtimeErr := choose("--runtime", i.Runtime, decide.Runtimes(), "")
	_, builderErr := choose("--builder", i.Builder, decide.Builders(), "")
	if err := cmp.Or(runtimeErr, builderErr); err != nil {
		return err
	}
	var err error
	i.UploadLimit, err = packaging.UploadLimit(f.uploadLimit)
	return err
}

// checkEmpty rejects flags with an empty text, for example from an unset shell variable:
// the job would not be the intended one.
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

// target splits the words of the command line into TARGET and ARGS.
func (f *flags) target(c *cobra.Command, args []string, r *api.Request) error {
	words, rest := args, []string(nil)
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		words, rest = args[:dash], args[dash:]
	}
	if f.earlier != nil {
		f.earlier.target(r, rest)
		return nil
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
	case len(words) > 1 && strings.HasPrefix(words[0], "python") && !strings.HasSuffix(words[0], ".py") && strings.HasSuffix(words[1], ".py"):
		return fmt.Errorf("TARGET %q and %q: the job chooses the Python: omit %s", words[0], words[1], words[0])
	case len(words) > 1:
		return fmt.Errorf("TARGET %q and %q: only one is allowed; pass arguments to a script after --, to a function with --arg NAME=VALUE", words[0], words[1])
	case len(words) == 1:
		r.Target = words[0]
	}
	return nil
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
