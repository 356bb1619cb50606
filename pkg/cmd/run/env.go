package run

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// envFlags are the flags that set environment variables of a job.
type envFlags struct {
	// Set are values of --env: NAME=VALUE, or NAME to copy it from this process.
	Set []string
	// Capture are patterns of names to copy, in the syntax of path.Match.
	Capture []string
	// Secret are names to copy as secrets.
	Secret []string
	// Local means that there will be no manifest.
	Local bool
}

// variables are what goes into a job's environment.
type variables struct {
	Env []api.EnvVar
	// Secrets are kept out of manifests, handles and logs.
	Secrets map[string]string
	// Notes are sentences about what was copied and how; they never contain values.
	Notes []string
}

const envName = `^[A-Za-z_][A-Za-z0-9_]*$`

// describesMachine reports whether a name matches one of neverCaptured.
func describesMachine(name string) bool {
	// neverCaptured are patterns of names that describe this machine, not the job: its paths,
	// its devices, its credentials, and its role if it is itself part of a job. --capture-env
	// doesn't copy them unless it names one exactly.
	neverCaptured := []string{
		"PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_", "TERM", "SHELL", "USER", "LOGNAME", "HOSTNAME", "TMPDIR", "TEMP", "TMP",
		"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_*", "PYENV_*", "LD_LIBRARY_PATH", "LD_PRELOAD", "XDG_*",
		"SSH_AUTH_SOCK", "SSL_CERT_*", "*_CA_BUNDLE", "KUBECONFIG", "KUBERNETES_*", "CLOUDSDK_*",
		"GOOGLE_APPLICATION_CREDENTIALS", api.EnvStorageEmulator, "GCE_METADATA_*", "KINETIC_*",
		"KERAS_BACKEND", "JAX_PLATFORMS", "CUDA_VISIBLE_*", "NVIDIA_*", "TPU_*", "MEGASCALE_*", "LWS_*", "JOB_COMPLETION_INDEX",
		"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "OMPI_*",
		"JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_LOCAL_DEVICE_IDS",
	}
	return slices.ContainsFunc(neverCaptured, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// readEnvironment decides what to copy, from flags and the environment of this process
// (NAME=VALUE strings).
func readEnvironment(f envFlags, environ []string) (variables, error) {
	r := envReader{noManifest: f.Local, local: map[string]string{}, seen: map[string]string{}}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			r.local[name] = value
		}
	}
	for _, given := range []struct {
		values []string
		read   func(string) error
	}{{f.Set, r.set}, {f.Secret, r.secret}, {f.Capture, r.capture}} {
		for _, s := range given.values {
			if err := given.read(s); err != nil {
				return variables{}, err
			}
		}
	}
	r.note()
	return r.out, nil
}

type envReader struct {
	noManifest bool
	local      map[string]string
	seen       map[string]string // name → the flag that set it
	copied     []string
	skipped    []string
	out        variables
}

func (r *envReader) claim(flag, name string) error {
	if !lazyregexp.Of(envName).MatchString(name) {
		return fmt.Errorf("%s %q: invalid name: use letters, digits and '_', not starting with a digit", flag, name)
	}
	if submit.SetByRunner(name) {
		return fmt.Errorf("%s %s: reserved: the runner sets this variable", flag, name)
	}
	if other, ok := r.seen[name]; ok {
		return fmt.Errorf("%s %s: already given by %s", flag, name, other)
	}
	r.seen[name] = flag
	return nil
}

func (r *envReader) set(s string) error {
	name, value, literal := strings.Cut(s, "=")
	if err := r.claim("--env", name); err != nil {
		return err
	}
	if !literal {
		return r.copy("--env", name)
	}
	if strings.ContainsRune(value, 0) {
		return fmt.Errorf("--env %s: the value holds a NUL byte", name)
	}
	if submit.MayBeSecret(name, value) && !r.noManifest {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s looks like a secret, and -e does not protect its value: use --secret-env %s", name, name))
	}
	r.out.Env = append(r.out.Env, api.EnvVar{Name: name, Value: value})
	return nil
}

func (r *envReader) secret(name string) error {
	if before, _, ok := strings.Cut(name, "="); ok {
		return fmt.Errorf("--secret-env %s=…: takes only a name, to keep the value out of the shell's history: export %s=… first", before, before)
	}
	if err := r.claim("--secret-env", name); err != nil {
		return err
	}
	value, ok := r.local[name]
	if !ok {
		return fmt.Errorf("--secret-env %s: not set in this shell: export %s=… first", name, name)
	}
	r.hide(name, value)
	return nil
}

func (r *envReader) capture(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return fmt.Errorf("--capture-env %q: expected a valid pattern, such as AWS_*", pattern)
	}
	names := make([]string, 0, len(r.local))
	matched := false
	for name := range r.local {
		ok, _ := path.Match(pattern, name)
		matched = matched || ok
		if ok && r.seen[name] == "" && lazyregexp.Of(envName).MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if !matched {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("--capture-env %s matches no variable of this shell", pattern))
	}
	for _, name := range names {
		if submit.SetByRunner(name) || name != pattern && describesMachine(name) {
			r.skipped = append(r.skipped, name)
			continue
		}
		r.seen[name] = "--capture-env " + pattern
		if err := r.copy("--capture-env", name); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a variable from this machine, as a secret if it looks like one.
func (r *envReader) copy(flag, name string) error {
	value, ok := r.local[name]
	switch {
	case !ok:
		return fmt.Errorf("%s %s: not set in this shell: use %s %s=VALUE, or export it first", flag, name, flag, name)
	case submit.MayBeSecret(name, value):
		r.hide(name, value)
	default:
		r.copied = append(r.copied, name)
		r.out.Env = append(r.out.Env, api.EnvVar{Name: name, Value: value})
	}
	return nil
}

func (r *envReader) hide(name, value string) {
	if r.out.Secrets == nil {
		r.out.Secrets = map[string]string{}
	}
	r.out.Secrets[name] = value
}

func (r *envReader) note() {
	if len(r.copied) > 0 {
		r.out.Notes = append(r.out.Notes, "copied from this shell: "+strings.Join(r.copied, ", "))
	}
	if len(r.out.Secrets) > 0 {
		r.out.Notes = append(r.out.Notes, "passed as a Secret: "+strings.Join(slices.Sorted(maps.Keys(r.out.Secrets)), ", "))
	}
	if len(r.skipped) > 0 {
		r.out.Notes = append(r.out.Notes, "not copied, because they describe this machine: "+strings.Join(r.skipped, ", "))
	}
}
