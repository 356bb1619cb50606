package decide

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

const repository = "us-docker.pkg.dev/acme/kn-c/env"

// project writes files into a directory and returns what the project in it wants.
func project(t *testing.T, files map[string]string) (string, deps.Wanted) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := deps.Find(deps.Options{Root: root, EntryDir: root, Cwd: root, Home: root})
	if err != nil {
		t.Fatal(err)
	}
	return root, w
}

func input(t *testing.T, files map[string]string) Input {
	t.Helper()
	root, w := project(t, files)
	return Input{Wanted: w, Root: root, Accelerator: api.Accelerator{Kind: api.CPU}, Repository: repository, Python: "3.12", Version: "v1"}
}

func requirements(text string) map[string]string { return map[string]string{"requirements.txt": text} }

func TestModes(t *testing.T) {
	const made = repository + ":r-"
	tests := map[string]struct {
		files   map[string]string
		change  func(*Input)
		mode    Mode
		image   string // its beginning
		err     string
		warning string
	}{
		"nothing to install":                 {nil, nil, Bundled, "python:3.12-slim-bookworm", "", ""},
		"nothing to install, named":          {nil, func(i *Input) { i.Image = "bundled" }, Bundled, "python:3.12-slim-bookworm", "", ""},
		"nothing to install, by the pod":     {nil, func(i *Input) { i.Image = "prebuilt" }, Prebuilt, "python:3.12-slim-bookworm", "", ""},
		"no requirements wanted":             {requirements("six"), func(i *Input) { i.NoDeps = true }, Bundled, "python:3.12-slim-bookworm", "", ""},
		"requirements":                       {requirements("six"), nil, Bundled, made, "", ""},
		"requirements, by the pod":           {requirements("six"), func(i *Input) { i.Image = "prebuilt" }, Prebuilt, "python:3.12-slim-bookworm", "", ""},
		"an image":                           {requirements("six"), func(i *Input) { i.Image = "me/mine:1" }, Custom, "me/mine:1", "", ""},
		"a TPU":                              {nil, func(i *Input) { i.Accelerator.Kind = api.TPU }, Bundled, made, "", ""},
		"a TPU without a runtime":            {nil, func(i *Input) { i.Accelerator.Kind, i.Runtime = api.TPU, "none" }, Bundled, "python:3.12-slim", "", ""},
		"no repository":                      {requirements("six"), func(i *Input) { i.Repository = "" }, Prebuilt, "python:3.12-slim", "", ""},
		"no repository, named":               {requirements("six"), func(i *Input) { i.Repository, i.Image = "", "bundled" }, "", "", "--image-repo", ""},
		"another repository":                 {requirements("six"), func(i *Input) { i.ImageRepo = "10.0.0.1:5000/x/env" }, Bundled, "10.0.0.1:5000/x/env:r-", "", ""},
		"a repository that can't be written": {requirements("six"), func(i *Input) { i.Unwritable = func(string) string { return "no" } }, Prebuilt, "python:3.12-slim", "", ""},
		"the same, named": {requirements("six"), func(i *Input) {
			i.Image, i.Unwritable = "bundled", func(string) string { return "no" }
		}, Bundled, made, "", ""},
		"another Python":        {nil, func(i *Input) { i.Images.Python = "3.10" }, Bundled, "python:3.10-slim-bookworm", "", ""},
		"Cloud Build elsewhere": {requirements("six"), func(i *Input) { i.ImageRepo, i.Builder = "ghcr.io/me/env", "cloudbuild" }, "", "", "--builder cloudbuild: it sends images to Artifact Registry only", ""},
		"Cloud Build on Arm":    {requirements("six"), func(i *Input) { i.Accelerator.Arch, i.Builder = "arm64", "cloudbuild" }, "", "", "for amd64 only", ""},
		"Cloud Build of a file": {map[string]string{"requirements.txt": "six\n./ours-1-py3-none-any.whl", "ours-1-py3-none-any.whl": "zip"}, func(i *Input) { i.Builder = "cloudbuild" }, "", "", "requirements.txt:2", ""},
		"Cloud Build":           {requirements("six"), func(i *Input) { i.Builder = "cloudbuild" }, Bundled, made, "", ""},
		"an unknown Python":     {nil, func(i *Input) { i.Images.Python = "3.7" }, "", "", "--python 3.7", ""},
		"a Python that the project excludes": {map[string]string{"pyproject.toml": "[project]\nname = \"p\"\nrequires-python = \"<3.12\"\n"},
			func(i *Input) { i.Images.Python = "3.13" }, "", "", "pyproject.toml requires Python <3.12, and the job would have Python 3.13", ""},
		"a newer Python here":                     {nil, func(i *Input) { i.Python = "3.99" }, Bundled, "python:3.14-slim-bookworm", "", ""},
		"an older Python here":                    {nil, func(i *Input) { i.Python = "3.9" }, Bundled, "python:3.10-slim-bookworm", "", ""},
		"no Python here":                          {nil, func(i *Input) { i.Python = "" }, Bundled, "python:3.14-slim-bookworm", "", ""},
		"a project that excludes the Python here": {map[string]string{"pyproject.toml": "[project]\nname = \"p\"\nrequires-python = \"<3.12\"\n"}, nil, Bundled, "python:3.11-slim-bookworm", "", ""},
		"a project for newer Pythons":             {map[string]string{"pyproject.toml": "[project]\nname = \"p\"\nrequires-python = \">=3.12\"\n"}, func(i *Input) { i.Python = "3.10" }, Bundled, "python:3.12-slim-bookworm", "", ""},
		"a project that excludes the next one":    {map[string]string{"pyproject.toml": "[project]\nname = \"p\"\nrequires-python = \">3.9,!=3.11.*\"\n"}, func(i *Input) { i.Python = "3.11" }, Bundled, "python:3.12-slim-bookworm", "", ""},
		"a base":                                  {requirements("six"), func(i *Input) { i.BaseImage, i.Image = "me/base:1", "prebuilt" }, Prebuilt, "me/base:1", "", ""},
		"a base and a Python":                     {nil, func(i *Input) { i.BaseImage, i.Images.Python = "me/base:1", "3.12" }, "", "", "--python 3.12", ""},
		"bases of build-image":                    {nil, func(i *Input) { i.BaseImageRepo, i.Accelerator.Kind = "me/", api.GPU; i.Image = "prebuilt" }, Prebuilt, "me/base-gpu:v1", "", ""},
		"JAX on a TPU":                            {requirements("jax==0.4\nsix"), func(i *Input) { i.Accelerator.Kind = api.TPU }, Bundled, made, "", "jax==0.4 (requirements.txt:1) is left out: the job gets jax[tpu]>=0.4.6"},
		"JAX on cpu":                              {requirements("jax==0.4\nsix"), nil, Bundled, made, "", ""},
		"JAX for TPUs on cpu":                     {requirements("jax[tpu]==0.4\nsix"), nil, Bundled, made, "", "jax[tpu]==0.4 (requirements.txt:1) is left out: the job gets jax==0.4, which fits CPU"},
		"an unknown package":                      {requirements("cudf-cu12\nnumpy"), func(i *Input) { i.Accelerator.Kind = api.GPU }, Bundled, made, "", "requirements.txt does not say whether the job needs JAX, so JAX is not installed: if it needs JAX, list jax or add --runtime jax"},
		"a lock for a TPU":                        {requirements("six==1 --hash=sha256:" + strings.Repeat("0", 64)), func(i *Input) { i.Accelerator.Kind = api.TPU }, Bundled, made, "", "no libtpu"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t, tt.files)
			if tt.change != nil {
				tt.change(&in)
			}
			p, err := New(in)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || p.Mode != tt.mode || !strings.HasPrefix(p.Image, tt.image) {
				t.Errorf("%s with %s, want %s with %s…; %v", p.Mode, p.Image, tt.mode, tt.image, err)
			}
			if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, tt.warning) || tt.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if (p.Why != "") != (p.Mode == Prebuilt && !p.Asked) {
				t.Errorf("why %q", p.Why)
			}
		})
	}
}

// TestRuntime tests what a job gets beside what its project wants.
func TestRuntime(t *testing.T) {
	tests := map[string]struct {
		kind    api.AcceleratorKind
		runtime string
		text    string
		want    string
	}{
		"cpu":                         {api.CPU, "", "", ""},
		"cpu, asked":                  {api.CPU, "jax", "", "jax keras"},
		"tpu":                         {api.TPU, "", "", "jax[tpu]>=0.4.6 keras"},
		"tpu, torch":                  {api.TPU, "", "torch\n", ""},
		"tpu, torch_xla":              {api.TPU, "", "torch==2.6.0\ntorch_xla[tpu]==2.6.0\njax==0.4\n", ""},
		"tpu, flax":                   {api.TPU, "", "flax\nmy-lib\n", "jax[tpu]>=0.4.6 keras"},
		"tpu, none":                   {api.TPU, "none", "", ""},
		"gpu":                         {api.GPU, "", "six\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, torch":                  {api.GPU, "", "Torch>=2\n", ""},
		"gpu, tensorflow":             {api.GPU, "auto", "tensorflow\n", ""},
		"gpu, torchvision":            {api.GPU, "", "torchvision\ntimm\n", ""},
		"gpu, lightning":              {api.GPU, "", "pytorch-lightning\n", ""},
		"gpu, vllm":                   {api.GPU, "", "vllm==0.6.3\n", ""},
		"gpu, an extra":               {api.GPU, "", "transformers[torch]\n", ""},
		"gpu, JAX's extra":            {api.GPU, "", "transformers[flax]\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, ultralytics":            {api.GPU, "", "ultralytics\nnumpy\n", ""},
		"gpu, tf-nightly":             {api.GPU, "", "tf-nightly\n", ""},
		"gpu, an unknown one":         {api.GPU, "", "cudf-cu12\n", ""},
		"gpu, asked":                  {api.GPU, "jax", "cudf-cu12\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, keras":                  {api.GPU, "", "keras\nmy-lib\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, keras and torch":        {api.GPU, "", "keras\ntorch\n", ""},
		"gpu, data loading":           {api.GPU, "", "jax[cuda12]==0.6.2\nflax\ntorch\n", "jax[cuda12]==0.6.2 keras"},
		"gpu, JAX for TPUs":           {api.GPU, "", "jax[tpu]==0.4.30\nflax\n", "jax[cuda12]==0.4.30 keras"},
		"gpu, too old a JAX":          {api.GPU, "", "jax[cuda12_pip]==0.4.20\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, a range":                {api.GPU, "", "jax>=0.4,<0.5\n", "jax[cuda12]>=0.4.30,>=0.4,<0.5 keras"},
		"gpu, a range before":         {api.GPU, "", "jax<0.4.20\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, a range up to":          {api.GPU, "", "jax<0.4.30\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, a range with it":        {api.GPU, "", "jax<=0.4.30,!=0.4.2\n", "jax[cuda12]>=0.4.30,<=0.4.30,!=0.4.2 keras"},
		"gpu, an old series":          {api.GPU, "", "jax==0.3.*\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, an old line among two":  {api.GPU, "", "jax>=0.4.13\njax[cuda11_pip]==0.4.16\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, a compatible release":   {api.GPU, "", "jax~=0.4.20\n", "jax[cuda12]>=0.4.30,~=0.4.20 keras"},
		"tpu, an old text":            {api.TPU, "", "jax===0.4.1\n", "jax[tpu]>=0.4.6 keras"},
		"gpu, lines in some order":    {api.GPU, "", "jax>=0.5\njax<0.7\n", "jax[cuda12]>=0.4.30,<0.7,>=0.5 keras"},
		"gpu, lines in another order": {api.GPU, "", "jax<0.7\njax>=0.5\n", "jax[cuda12]>=0.4.30,<0.7,>=0.5 keras"},
		"gpu, several lines":          {api.GPU, "", "jax==0.5.3 ; python_version < '3.14'\njax[cuda12]==0.5.3 ; sys_platform == 'linux'\njax==0.4.38 ; sys_platform == 'darwin'\n", "jax[cuda12]==0.5.3 keras"},
		"gpu, JAX in a pin of jaxlib": {api.GPU, "", "jax\njaxlib==0.4.30\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, an old JAX, kept":       {api.GPU, "", "jax[cuda12_pip]==0.4.20  # kn:keep\n", "jax[cuda12] keras"},
		"tpu, JAX for GPUs":           {api.TPU, "", "jax[cuda12]==0.4.30\n", "jax[tpu]==0.4.30 keras"},
		"tpu, too old a JAX":          {api.TPU, "", "jax==0.4\n", "jax[tpu]>=0.4.6 keras"},
		"gpu, no framework":           {api.GPU, "", "tensorflow-datasets\nnumpy\n", "jax[cuda12]>=0.4.30 keras"},
		"cpu, JAX":                    {api.CPU, "", "jax==0.4\n", ""},
		"cpu, JAX for GPUs":           {api.CPU, "", "jax[cuda12]\ntorch\n", "jax"},
		"gpu, torch and jax":          {api.GPU, "jax", "torch\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, a wheel":                {api.GPU, "", "https://download.pytorch.org/whl/torch-2.5.1-cp311-cp311-linux_x86_64.whl\n", ""},
		"gpu, a wheel for JAX":        {api.GPU, "", "https://h/flax-0.1%2Bcu1-py3-none-any.whl#sha256=00\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, Git":                    {api.GPU, "", "git+https://github.com/huggingface/accelerate\n", ""},
		"gpu, an egg":                 {api.GPU, "", "git+https://github.com/huggingface/numpy#egg=accelerate&subdirectory=x\n", ""},
		"gpu, an egg for JAX":         {api.GPU, "", "git+https://h/r@v1#egg=transformers[flax]\n", "jax[cuda12]>=0.4.30 keras"},
		"gpu, a source":               {api.GPU, "", "https://h/mypkg-1.0.tar.gz\n", ""},
		"gpu, an egg without a name":  {api.GPU, "", "git+https://h/r#egg=\n", ""},
		"gpu, what is locked":         {api.GPU, "", "six==1 --hash=sha256:" + strings.Repeat("a", 64) + "\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t, requirements(tt.text))
			in.Accelerator.Kind, in.Runtime = tt.kind, tt.runtime
			p, err := New(in)
			if got := strings.Join(p.Added, " "); err != nil || got != tt.want {
				t.Errorf("added %q, want %q; %v", got, tt.want, err)
			}
			if (len(p.AddedOptions) > 0) != (tt.kind == api.TPU && tt.want != "") {
				t.Errorf("options %q", p.AddedOptions)
			}
		})
	}
}

// TestJAXForAnUnknownPython: a line counts if it does for the Pythons that a base may have, and they agree.
func TestJAXForAnUnknownPython(t *testing.T) {
	for text, want := range map[string]string{
		"jax==0.6.2 ; python_version >= '3.11'\n": "jax[cuda12]==0.6.2",
		"jax==0.6.2 ; python_version >= '3.11' and python_version < '4.0'\njax==0.4.38 ; sys_platform == 'darwin'\n": "jax[cuda12]==0.6.2",
		"jax==0.6.2 ; python_version >= '3.11'\njax==0.4.38 ; python_version < '3.11'\n":                             "jax[cuda12]>=0.4.30",
		"jax==0.6.2 ; sys_platform == 'win32'\n":                                                                     "jax[cuda12]>=0.4.30",
	} {
		in := input(t, requirements(text))
		in.Accelerator.Kind, in.BaseImage = api.GPU, "me/x:1"
		if p, err := New(in); err != nil || len(p.Added) == 0 || p.Added[0] != want {
			t.Errorf("%q: added %q, want %s; %v", text, p.Added, want, err)
		}
	}
}

// TestRequireHashes: as for pip, a line without a hash is refused, wherever --require-hashes stands, unless its marker
// excludes the job; and so is what the runtime adds.
func TestRequireHashes(t *testing.T) {
	sum := " --hash=sha256:" + strings.Repeat("a", 64) + "\n"
	for name, c := range map[string]struct {
		kind  api.AcceleratorKind
		text  string
		files map[string]string
		want  string
	}{
		"a line without one": {
			text: "a==1" + sum + "b==1\n--require-hashes\n",
			want: `requirements.txt:2: "b==1" has no --hash, which --require-hashes (requirements.txt:3) wants of every line: lock the requirements again`,
		},
		"one of another file":    {text: "--require-hashes\n-r more.txt\n", files: map[string]string{"more.txt": "b\n"}, want: `more.txt:1: "b" has no --hash, which --require-hashes (requirements.txt:1)`},
		"JAX":                    {text: "--require-hashes\njax==0.4.30\n", want: `requirements.txt:2: "jax==0.4.30" has no --hash`},
		"JAX on GPUs":            {kind: api.GPU, text: "--require-hashes\njax==0.4.30\n", want: `requirements.txt:2: "jax==0.4.30" has no --hash`},
		"a URL without one":      {text: "--require-hashes\na @ https://me:s3cr3t@h/a.whl#egg=a\n", want: `requirements.txt:2: "a @ https://***@h/a.whl#egg=a" has no --hash`},
		"one that is weak":       {text: "--require-hashes\na @ https://h/a.whl#md5=bb\n", want: `has no --hash`},
		"all have one":           {text: "--require-hashes\na==1" + sum + "b @ https://h/b.whl#sha256=bb\nc @ https://h/c.whl#egg=c&sha512=cc\n"},
		"the project's own code": {text: "--require-hashes\n-e .\na==1" + sum, files: map[string]string{"pyproject.toml": "[project]\nname = 'x'\n"}},
		"constraints":            {text: "--require-hashes\n-c c.txt\na==1" + sum, files: map[string]string{"c.txt": "b<2\n"}},
		"a constraint with one":  {text: "--require-hashes\n-c c.txt\nA\n", files: map[string]string{"c.txt": "a==1" + sum}},
		"a constraint of none":   {text: "--require-hashes\n-c c.txt\nhttps://h/a.whl\n", files: map[string]string{"c.txt": "https://h/b.whl" + sum}, want: `"https://h/a.whl" has no --hash`},
		"one for others":         {text: "--require-hashes\n-c c.txt\na\n", files: map[string]string{"c.txt": "a==1 ; sys_platform == 'win32'" + sum}, want: `"a" has no --hash`},
		"one without a version":  {text: "--require-hashes\n-c c.txt\na\n", files: map[string]string{"c.txt": "a>=1" + sum}, want: `"a" has no --hash`},
		"for another system":     {text: "--require-hashes\na==1" + sum + "b==1 ; sys_platform == 'win32'\n"},
		"for another Python":     {text: "--require-hashes\na==1" + sum + "b==1 ; python_version < '3.12'\n"},
		"the Python tool":        {text: "--require-hashes\na==1" + sum + "keras-kinetic==1\n"},
		"a complete JAX":         {kind: api.GPU, text: "--require-hashes\njax[cuda12]==0.6.2" + sum + "jax-cuda12-plugin==0.6.2" + sum},
		"what is added": {
			kind: api.GPU, text: "--require-hashes\njax==0.6.2" + sum,
			want: "requirements.txt:1: --require-hashes rejects jax[cuda12]==0.6.2, which the job adds without a --hash: lock jax[cuda12] with its dependencies, or remove --require-hashes",
		},
	} {
		files := map[string]string{"requirements.txt": c.text}
		maps.Copy(files, c.files)
		in := input(t, files)
		in.Accelerator.Kind = cmp.Or(c.kind, api.CPU)
		_, err := New(in)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestHashesOfJAX: a lock that has what JAX needs stays as it is. For another, a warning says that hashes are lost.
func TestHashesOfJAX(t *testing.T) {
	sum := " --hash=sha256:" + strings.Repeat("a", 64) + "\n"
	gpu, tpu := "jax[cuda12]==0.6.2"+sum+"jaxlib==0.6.2"+sum+"jax-cuda12-plugin==0.6.2"+sum, "jax[tpu]==0.6.2"+sum+"libtpu==0.0.17"+sum
	for name, tt := range map[string]struct {
		kind          api.AcceleratorKind
		runtime, text string
		added         string
		warning       string
	}{
		"for GPUs":              {api.GPU, "", gpu, "", ""},
		"for GPUs, asked":       {api.GPU, "jax", gpu, "", ""},
		"for TPUs":              {api.TPU, "", tpu, "", ""},
		"for GPUs, on TPUs":     {api.TPU, "", gpu, "jax[tpu]==0.6.2", "without its hashes"},
		"a line without hashes": {api.GPU, "", gpu + "six==1\n", "jax[cuda12]==0.6.2", "jax[cuda12]==0.6.2 (requirements.txt:1) is left out: the job gets jax[cuda12]==0.6.2, which fits GPU, without its hashes;"},
		"without the plugin":    {api.GPU, "", "jax==0.6.2" + sum, "jax[cuda12]==0.6.2", "without its hashes"},
		"no hashes":             {api.GPU, "", "jax[cuda12]==0.6.2\n", "jax[cuda12]==0.6.2", ""},
	} {
		in := input(t, requirements(tt.text))
		in.Accelerator.Kind, in.Runtime = tt.kind, tt.runtime
		p, err := New(in)
		said := strings.Join(p.Warnings, "\n")
		if err != nil || !slices.Contains(append(p.Added, ""), tt.added) || (tt.added == "") != p.IsLock() || (said == "") != (tt.warning == "") || !strings.Contains(said, tt.warning) {
			t.Errorf("%s: added %q, warned %q, %v", name, p.Added, said, err)
		}
	}
}

// TestNewBase: what build-image makes is what --base-image-repo finds, with the runtime in it.
func TestNewBase(t *testing.T) {
	for _, kind := range []api.AcceleratorKind{api.CPU, api.GPU, api.TPU} {
		base, err := NewBase(Input{Images: api.Images{ImageRepo: "r.example/acme/"}, Accelerator: api.Accelerator{Kind: kind}, Python: "3.12"}, "v1")
		if err != nil {
			t.Fatal(err)
		}
		if base.Image != "r.example/acme/base-"+strings.ToLower(string(kind))+":v1" || base.Image != base.Repository+":"+base.Tag || base.Added[0] != jaxFor(kind, nil) ||
			(len(base.AddedOptions) > 0) != (kind == api.TPU) || base.Base.Python != "3.12" {
			t.Errorf("base %+v", base)
		}
		in := input(t, requirements("jax==0.4\nsix\n"))
		in.Accelerator.Kind, in.BaseImageRepo = kind, "r.example/acme"
		p, err := New(in)
		if err != nil || p.Base.Ref != base.Image || len(p.Added) > 0 || !p.HasRuntime() || len(p.Wanted.Requirements) != 1 ||
			!strings.Contains(strings.Join(p.Warnings, ""), "the base image "+base.Image+" has its own") {
			t.Errorf("job %+v, %v", p, err)
		}
		in = input(t, nil)
		in.Accelerator.Kind, in.BaseImageRepo, in.Version = kind, "r.example/acme", "v1+dirty"
		if p, err = New(in); err != nil || p.Image != base.Image+"-dirty" {
			t.Errorf("image %s, want %s-dirty; %v", p.Image, base.Image, err)
		}
		in.Version = "v1"
		if p, err = New(in); err != nil || p.Image != base.Image || !p.Empty() {
			t.Errorf("job without requirements %+v, %v", p, err)
		}
		in.Runtime = "none"
		if p, err = New(in); err != nil || p.HasRuntime() {
			t.Errorf("--runtime none: %+v, %v", p, err)
		}
		in.Runtime = "jax"
		if p, err = New(in); err != nil || p.Added[0] != jaxFor(kind, nil) {
			t.Errorf("--runtime jax: %+v, %v", p, err)
		}
	}
}

// TestRuntimeNoneKeepsJAX: without a runtime, a job gets exactly what its project lists.
func TestRuntimeNoneKeepsJAX(t *testing.T) {
	in := input(t, requirements("jax==0.4\nsix\n"))
	in.Runtime = "none"
	p, err := New(in)
	if err != nil || !listsJAX(p) || len(p.Wanted.Dropped) > 0 {
		t.Errorf("requirements %+v, dropped %+v, %v", p.Wanted.Requirements, p.Wanted.Dropped, err)
	}
}

func listsJAX(p Plan) bool {
	return slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool { return l.Name() == "jax" })
}

// TestHashedJAX: what the filter drops makes hashed requirements incomplete, so that the runtime is added.
func TestHashedJAX(t *testing.T) {
	hash := " --hash=sha256:" + strings.Repeat("a", 64) + "\n"
	for name, tt := range map[string]struct {
		kind    api.AcceleratorKind
		runtime string
		added   string
		warning string
		isLock  bool
	}{
		"tpu":       {api.TPU, "", "jax[tpu]>=0.4.6 keras", "the job gets jax[tpu]", false},
		"gpu":       {api.GPU, "", "jax[cuda12]>=0.4.30 keras", "the job gets jax[cuda12]", false},
		"cpu":       {api.CPU, "", "", "", true},
		"cpu, none": {api.CPU, "none", "", "", true},
	} {
		in := input(t, requirements("six==1"+hash+"jax==0.4"+hash))
		in.Accelerator.Kind, in.Runtime = tt.kind, tt.runtime
		p, err := New(in)
		if got := strings.Join(p.Added, " "); err != nil || got != tt.added || p.IsLock() != tt.isLock {
			t.Errorf("%s: added %q, lock %v, %v", name, got, p.IsLock(), err)
		}
		if got := strings.Join(p.Warnings, " "); !strings.Contains(got, tt.warning) || (got == "") != (tt.warning == "") {
			t.Errorf("%s: warnings %q", name, got)
		}
		if listsJAX(p) != (tt.kind == api.CPU) {
			t.Errorf("%s: requirements %v", name, p.Wanted.Requirements)
		}
	}
}

func TestBases(t *testing.T) {
	bases := Bases()
	if len(bases) < 5 {
		t.Fatalf("%d bases", len(bases))
	}
	for i, b := range bases {
		if _, err := b.Facts("amd64").Target().Tags(); err != nil || b.Ref == "" || !b.Known {
			t.Errorf("base %+v: %v", b, err)
		}
		if i > 0 && comparePythons(bases[i-1].Python, b.Python) >= 0 {
			t.Errorf("%s comes after %s", b.Python, bases[i-1].Python)
		}
	}
}

// TestFilesOfALockInCloudBuild: Cloud Build has no files of the project.
func TestFilesOfALockInCloudBuild(t *testing.T) {
	root, w := project(t, map[string]string{"pylock.toml": "lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1.0\"\n" +
		"wheels = [{path = \"six-1.0-py3-none-any.whl\", hashes = {sha256 = \"" + strings.Repeat("a", 64) + "\"}}]\n"})
	in := Input{Wanted: w, Root: root, Repository: repository, Images: api.Images{Builder: "cloudbuild", Python: "3.12"}}
	if _, err := New(in); err == nil || !strings.Contains(err.Error(), "such as "+filepath.Join(root, "six-1.0-py3-none-any.whl")+" (pylock.toml)") {
		t.Errorf("error %v", err)
	}
}
