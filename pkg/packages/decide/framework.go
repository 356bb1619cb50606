package decide

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// framework is what a package computes with: what it installs, or cannot be used without.
type framework string

const (
	usesJAX   framework = "JAX"
	usesXLA   framework = "PyTorch/XLA" // which brings the libtpu that it fits
	usesOther framework = "another framework"
	usesAny   framework = "any framework" // JAX, unless there is another one
	usesNone  framework = "no framework"
)

// namesOf lists well-known packages by what they use. Each name is the maintainers' knowledge of November 2026, not
// a reading of PyPI: a name that is missing costs a warning, a wrong one a framework too many or too few.
func namesOf() map[framework]string {
	return map[framework]string{
		usesJAX: `alphafold3 big-vision blackjax brax chex clu diffrax distrax dm-haiku easydel equinox evosax flax gemma haliax jax jax-md
			jaxlib jaxopt jraph kauldron levanter lineax maxtext mctx neural-tangents numpyro optax optimistix orbax-checkpoint ott-jax
			penzai qwix rlax scenic tokamax trax tunix`,
		usesXLA: `torch-xla`,
		usesOther: `accelerate allennlp auto-gptq autoawq axolotl bitsandbytes botorch captum catalyst composer deepspeed easyocr
			fairscale fairseq fairseq2 fastai flair flash-attn gpytorch kornia lightning lightning-fabric liger-kernel litgpt
			llm-foundry lmdeploy megatron-core monai mosaicml nemo-toolkit open-clip-torch openai-whisper optimum outetts peft pyannote-audio
			pyro-ppl pytorch segment-anything sentence-transformers sglang spacy-transformers speechbrain stable-baselines3 stanza tabpfn
			tf-keras tf-models-official tf-nightly timm trl tts ultralytics unsloth vllm xformers`,
		usesAny: `keras keras-cv keras-hub keras-nlp keras-rs keras-tuner`,
		usesNone: `absl-py aiohttp array-record attrs black boto3 click cloudpickle datasets einops etils fastapi fsspec gcsfs gin-config
			google-cloud-bigquery google-cloud-storage grain grpcio gymnasium h5py httpx huggingface-hub hydra-core imageio jaxtyping joblib
			jsonlines jupyter lightgbm loguru matplotlib ml-collections ml-dtypes mlflow msgpack mypy networkx nltk numba numpy omegaconf
			openai opencv-python opencv-python-headless orjson packaging pandas pillow plotly polars protobuf psutil pyarrow pydantic pytest
			python-dateutil python-dotenv pyyaml regex requests rich ruff s3fs safetensors scikit-image scikit-learn scipy seaborn
			sentencepiece simplejson six statsmodels sympy tabulate tenacity tensorboard tensorboardx tensorflow-datasets tensorflow-metadata
			tensorstore tiktoken tokenizers tomli toolz tqdm treescope typer typing-extensions tyro ujson urllib3 wandb xgboost zarr zstandard`,
	}
}

// frameworks has what each of these packages uses.
var frameworks = sync.OnceValue(func() map[string]framework {
	of := map[string]framework{}
	for f, names := range namesOf() {
		for name := range strings.FieldsSeq(names) {
			of[name] = f
		}
	}
	return of
})

// frameworkOf returns what a package uses, "" if that is not known.
func frameworkOf(r requirement.Requirement) framework {
	// families are beginnings of names that say what a package uses.
	families := map[string]framework{"torch": usesOther, "pytorch-": usesOther, "tensorflow": usesOther, "jax-": usesJAX}
	// extras are extras with which a package, such as transformers, brings a framework.
	extras := map[string]framework{
		"torch": usesOther, "pytorch": usesOther, "tf": usesOther, "tensorflow": usesOther, "jax": usesJAX, "flax": usesJAX,
	}
	for _, extra := range r.Extras {
		if of, known := extras[requirement.Normalize(extra)]; known {
			return of
		}
	}
	name := requirement.Normalize(r.Name)
	if of, known := frameworks()[name]; known {
		return of
	}
	for family, of := range families {
		if strings.HasPrefix(name, family) {
			return of
		}
	}
	return ""
}

// uses says what the packages of a project use.
type uses struct {
	all     map[framework]bool
	unknown []string // names of which that is not known
	more    bool     // other packages may be needed
	tpu     bool     // a package is made for TPUs by its name, such as tensorflow-tpu and vllm-tpu
}

func usesOf(wanted []requirement.Requirement) uses {
	u := uses{all: map[framework]bool{}}
	for _, r := range wanted {
		of := frameworkOf(r)
		u.tpu = u.tpu || strings.HasSuffix(requirement.Normalize(r.Name), "-tpu")
		if u.all[of] = true; of == "" {
			u.unknown = append(u.unknown, r.Name)
		}
	}
	return u
}

// jax reports whether JAX is wanted: a project that names no framework gets it, unless a package may bring
// another one.
func (u uses) jax() bool {
	if u.all[usesXLA] || u.all[usesJAX] {
		return !u.all[usesXLA]
	}
	return !u.all[usesOther] && (len(u.unknown) == 0 && !u.more || u.all[usesAny])
}

// KerasBackend returns what Keras should compute with on a kind of accelerator, as KERAS_BACKEND names it; "" if the
// packages don't say.
func (p Plan) KerasBackend(kind api.AcceleratorKind) string {
	wanted := slices.DeleteFunc(p.Wanted.Named(), func(r requirement.Requirement) bool { return !p.counts(r) })
	for _, name := range p.locked {
		wanted = append(wanted, requirement.Requirement{Name: name})
	}
	switch used := usesOf(wanted); {
	case p.HasRuntime(), used.all[usesJAX]:
		return "jax"
	case kind == api.TPU && !used.all[usesXLA] && !used.tpu: // a package that is not known may bring JAX
		return ""
	case slices.ContainsFunc(wanted, bringsTensorFlow):
		return "tensorflow"
	case used.all[usesOther], used.all[usesXLA]:
		return "torch"
	}
	return ""
}

// counts reports whether a requirement's marker may hold in the job.
func (p Plan) counts(r requirement.Requirement) bool {
	return slices.ContainsFunc(p.environments(), func(env requirement.Environment) bool {
		counts, err := r.Marker.Holds(env)
		return err != nil || counts
	})
}

func bringsTensorFlow(r requirement.Requirement) bool {
	name := requirement.Normalize(r.Name)
	return frameworkOf(r) == usesOther && (strings.HasPrefix(name, "tensorflow") || strings.HasPrefix(name, "tf-") ||
		slices.Contains(r.Extras, "tf") || slices.Contains(r.Extras, "tensorflow"))
}

// lacksTPU reports whether all that is wanted is known, and computes with frameworks that don't use a TPU by themselves.
func (u uses) lacksTPU() bool {
	return u.all[usesOther] && !u.all[usesXLA] && !u.all[usesJAX] && !u.tpu && len(u.unknown) == 0 && !u.more
}
