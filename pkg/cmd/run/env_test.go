package run

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestReadEnvironment(t *testing.T) {
	environ := []string{"LANG=C.UTF-8", "HF_TOKEN=hf_secret", "AWS_REGION=eu", "AWS_SECRET_ACCESS_KEY=s3", "PATH=/bin", "EMPTY=", "KINETIC_HOST=3", "bad-name=x", "=weird"}
	tests := map[string]struct {
		flags   envFlags
		environ []string // nil for the usual one
		want    variables
		err     string
	}{
		"literal values in the order given": {
			flags: envFlags{Set: []string{"B=2", "A=1=1", "E="}},
			want:  variables{Env: []api.EnvVar{{Name: "B", Value: "2"}, {Name: "A", Value: "1=1"}, {Name: "E", Value: ""}}},
		},
		"a name alone is copied": {
			flags: envFlags{Set: []string{"LANG", "EMPTY"}},
			want: variables{Env: []api.EnvVar{{Name: "LANG", Value: "C.UTF-8"}, {Name: "EMPTY", Value: ""}},
				Notes: []string{"copied from this shell: LANG, EMPTY"}},
		},
		"a copied name that looks secret is one": {
			flags: envFlags{Set: []string{"HF_TOKEN"}},
			want: variables{Secrets: map[string]string{"HF_TOKEN": "hf_secret"},
				Notes: []string{"passed as a Secret: HF_TOKEN"}},
		},
		"a copied value that looks secret is one": {
			flags: envFlags{Set: []string{"DATABASE_URL"}}, environ: []string{"DATABASE_URL=postgres://me:hush@db/x"},
			want: variables{Secrets: map[string]string{"DATABASE_URL": "postgres://me:hush@db/x"},
				Notes: []string{"passed as a Secret: DATABASE_URL"}},
		},
		"a literal value that looks secret is said": {
			flags: envFlags{Set: []string{"DATABASE_URL=postgres://me:hush@db/x"}},
			want: variables{Env: []api.EnvVar{{Name: "DATABASE_URL", Value: "postgres://me:hush@db/x"}},
				Notes: []string{"DATABASE_URL looks like a secret, and -e does not protect its value: use --secret-env DATABASE_URL"}},
		},
		"a name that only has such a word is none": {
			flags: envFlags{Set: []string{"TOKENIZERS_PARALLELISM=false", "MAX_TOKENS=5"}},
			want:  variables{Env: []api.EnvVar{{Name: "TOKENIZERS_PARALLELISM", Value: "false"}, {Name: "MAX_TOKENS", Value: "5"}}},
		},
		"a literal that looks secret is said": {
			flags: envFlags{Set: []string{"API_KEY=abc"}},
			want: variables{Env: []api.EnvVar{{Name: "API_KEY", Value: "abc"}},
				Notes: []string{"API_KEY looks like a secret, and -e does not protect its value: use --secret-env API_KEY"}},
		},
		"a pattern takes what matches, secrets apart": {
			flags: envFlags{Capture: []string{"AWS_*"}},
			want: variables{Env: []api.EnvVar{{Name: "AWS_REGION", Value: "eu"}}, Secrets: map[string]string{"AWS_SECRET_ACCESS_KEY": "s3"},
				Notes: []string{"copied from this shell: AWS_REGION", "passed as a Secret: AWS_SECRET_ACCESS_KEY"}},
		},
		"a pattern leaves this machine's own alone": {
			flags: envFlags{Capture: []string{"PA*", "KINETIC_*"}},
			want:  variables{Notes: []string{"not copied, because they describe this machine: PATH, KINETIC_HOST"}},
		},
		"a pattern leaves devices and credentials alone": {
			flags: envFlags{Capture: []string{"*"}, Set: []string{"LANG"}},
			environ: []string{"LANG=C", "GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json", "STORAGE_EMULATOR_HOST=http://x", "TPU_WORKER_ID=0", "LWS_GROUP_SIZE=1",
				"CUDA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=0", "JAX_PLATFORMS=cpu", "KUBERNETES_SERVICE_PORT=1", "SSL_CERT_FILE=x", "REQUESTS_CA_BUNDLE=x",
				"XDG_CACHE_HOME=x", "PYENV_ROOT=x", "CLOUDSDK_CONFIG=x", "KINETIC_STORE=x", "KINETIC_GROUP_KEY=x", "MEGASCALE_NUM_SLICES=2", "JOB_COMPLETION_INDEX=1", "MINE=1"},
			want: variables{Env: []api.EnvVar{{Name: "LANG", Value: "C"}, {Name: "MINE", Value: "1"}},
				Notes: []string{"copied from this shell: LANG, MINE",
					"not copied, because they describe this machine: CLOUDSDK_CONFIG, CUDA_VISIBLE_DEVICES, GOOGLE_APPLICATION_CREDENTIALS, JAX_PLATFORMS, JOB_COMPLETION_INDEX, KINETIC_GROUP_KEY, KINETIC_STORE, KUBERNETES_SERVICE_PORT, LWS_GROUP_SIZE, MEGASCALE_NUM_SLICES, NVIDIA_VISIBLE_DEVICES, PYENV_ROOT, REQUESTS_CA_BUNDLE, SSL_CERT_FILE, STORAGE_EMULATOR_HOST, TPU_WORKER_ID, XDG_CACHE_HOME"}},
		},
		"the key of the hosts": {flags: envFlags{Set: []string{"KINETIC_GROUP_KEY=x"}}, err: "the runner sets this variable"},
		"a pattern that names one exactly takes it": {
			flags: envFlags{Capture: []string{"PATH"}},
			want:  variables{Env: []api.EnvVar{{Name: "PATH", Value: "/bin"}}, Notes: []string{"copied from this shell: PATH"}},
		},
		"a pattern skips what is given already": {
			flags: envFlags{Set: []string{"AWS_REGION=us"}, Capture: []string{"AWS_R*"}},
			want:  variables{Env: []api.EnvVar{{Name: "AWS_REGION", Value: "us"}}},
		},
		"a pattern that matches nothing is said": {flags: envFlags{Capture: []string{"NOPE_*"}},
			want: variables{Notes: []string{"--capture-env NOPE_* matches no variable of this shell"}}},
		"any name can be a secret": {
			flags: envFlags{Secret: []string{"LANG"}},
			want: variables{Secrets: map[string]string{"LANG": "C.UTF-8"},
				Notes: []string{"passed as a Secret: LANG"}},
		},
		"bad name":              {flags: envFlags{Set: []string{"1A=x"}}, err: `--env "1A"`},
		"empty name":            {flags: envFlags{Set: []string{"=x"}}, err: `--env ""`},
		"unset name":            {flags: envFlags{Set: []string{"NOPE"}}, err: "--env NOPE: not set in this shell"},
		"unset secret":          {flags: envFlags{Secret: []string{"NOPE"}}, err: "--secret-env NOPE: not set in this shell"},
		"a secret with a value": {flags: envFlags{Secret: []string{"A=hunter2"}}, err: "takes only a name"},
		"twice":                 {flags: envFlags{Set: []string{"A=1", "A=2"}}, err: "already given by --env"},
		"secret and plain":      {flags: envFlags{Set: []string{"LANG"}, Secret: []string{"LANG"}}, err: "already given by --env"},
		"the runner's own":      {flags: envFlags{Set: []string{"KINETIC_JOB_ID=x"}}, err: "the runner sets this variable"},
		"that of a local pod":   {flags: envFlags{Set: []string{"KINETIC_POD_UID=x"}, Local: true}, err: "the runner sets this variable"},
		"a NUL byte":            {flags: envFlags{Set: []string{"A=\x00"}}, err: "NUL"},
		"not a pattern":         {flags: envFlags{Capture: []string{"[a"}}, err: `--capture-env "[a"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			environ := environ
			if tt.environ != nil {
				environ = tt.environ
			}
			got, err := readEnvironment(tt.flags, environ)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				if strings.Contains(err.Error(), "hunter2") {
					t.Errorf("the error tells the secret: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
