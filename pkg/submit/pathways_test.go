package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	images "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

func TestPlanOfPathways(t *testing.T) {
	pinned := map[string]string{"requirements.txt": "jax==0.9.2\n"}
	tests := map[string]struct {
		files  map[string]string
		change func(*api.Request)
		want   string // version, instance and hosts
		err    string
	}{
		"the project's JAX":     {files: pinned, want: "jax-0.9.2 tpuv6e:4x4 4"},
		"one host":              {files: pinned, change: func(r *api.Request) { r.AcceleratorText = "v6e-4" }, want: "jax-0.9.2 tpuv6e:2x2 1"},
		"two hosts of 4 chips":  {files: pinned, change: func(r *api.Request) { r.AcceleratorText = "v5e-8" }, want: "jax-0.9.2 tpuv5e:2x4 2"},
		"a version":             {change: func(r *api.Request) { r.Pathways.Version = "jax-0.10.0" }, want: "jax-0.10.0 tpuv6e:4x4 4"},
		"a number":              {change: func(r *api.Request) { r.Pathways.Version = "0.10.0" }, want: "jax-0.10.0 tpuv6e:4x4 4"},
		"a dated one":           {change: func(r *api.Request) { r.Pathways.Version = "20260128-jax_0.9.0" }, want: "20260128-jax_0.9.0 tpuv6e:4x4 4"},
		"an image of one's own": {change: func(r *api.Request) { r.Image, r.Pathways.Version = "me/mine:1", "0.9.2" }, want: "jax-0.9.2 tpuv6e:4x4 4"},
		"no version":            {files: map[string]string{"requirements.txt": "jax\n"}, err: "pin it, as in jax==0.9.2, or name the runtime's version with --pathways-version"},
		"an old JAX":            {files: map[string]string{"requirements.txt": "jax==0.8.0\n"}, err: "needs jax 0.8.3 or newer, and the job would have jax 0.8.0: change it in requirements.txt"},
		"an old Python":         {files: pinned, change: func(r *api.Request) { r.Images.Python = "3.10" }, err: "needs Python 3.11 or newer"},
		"a tag that is none":    {change: func(r *api.Request) { r.Pathways.Version = "a b" }, err: `--pathways-version "a b"`},
		"a GPU":                 {change: func(r *api.Request) { r.AcceleratorText = "l4" }, err: "is for TPUs (v4, v5e, v5p, v6e, tpu7x), but --accelerator is l4"},
		"an old TPU":            {change: func(r *api.Request) { r.AcceleratorText = "v3" }, err: "supports v4, v5e, v5p, v6e, tpu7x TPUs with 2 chips or more"},
		"one chip":              {change: func(r *api.Request) { r.AcceleratorText = "v6e-1" }, err: "TPUs with 2 chips or more, but --accelerator is v6e-1"},
		"slices":                {change: func(r *api.Request) { r.Slices = 2 }, err: "--slices 2 cannot be combined with --backend pathways"},
		"a launcher": {change: func(r *api.Request) {
			r.Invocation = api.Invocation{Command: true, Args: []string{"torchrun", "train.py"}}
		}, err: "--command torchrun starts several processes"},
		"a launcher as a module": {change: func(r *api.Request) {
			r.Invocation = api.Invocation{Command: true, Args: []string{"/usr/bin/python3", "-u", "-m", "torch.distributed.run", "train.py"}}
		}, err: "--command torch.distributed.run starts several processes"},
		"the launcher of accelerate": {change: func(r *api.Request) {
			r.Invocation = api.Invocation{Command: true, Args: []string{"python", "-m", "accelerate.commands.launch", "train.py"}}
		}, err: "--command accelerate.commands.launch starts several processes"},
		"another module": {files: pinned, change: func(r *api.Request) {
			r.Invocation = api.Invocation{Command: true, Args: []string{"python", "-m", "train"}}
		}, want: "jax-0.9.2 tpuv6e:4x4 4"},
		"a flag of XLA":              {change: func(r *api.Request) { r.Pathways.XLAFlags = []string{"xla_x=1"} }, err: `--xla-flag "xla_x=1"`},
		"another backend":            {change: func(r *api.Request) { r.Backend, r.Pathways.XLAFlags = api.BackendLWS, []string{"--xla_x=1"} }, err: "--xla-flag requires --backend pathways"},
		"a debugger":                 {files: pinned, change: func(r *api.Request) { r.Debug = true }, want: "jax-0.9.2 tpuv6e:4x4 4"},
		"an image's own JAX":         {files: pinned, change: func(r *api.Request) { r.Image = "me/mine:1" }, err: "needs the version of the JAX in me/mine:1"},
		"no repository":              {files: pinned, change: func(r *api.Request) { r.Pathways.Images = "Mirror/pw:1" }, err: `--pathways-images "Mirror/pw:1"`},
		"another platform":           {files: pinned, change: func(r *api.Request) { r.Env = []api.EnvVar{{Name: "JAX_PLATFORMS", Value: "tpu"}} }, err: "--env JAX_PLATFORMS=tpu"},
		"a newer JAX, an old Python": {files: map[string]string{"requirements.txt": "jax==0.11.0\n"}, change: func(r *api.Request) { r.Images.Python = "3.11" }, err: "needs Python 3.12 or newer with jax 0.11.0"},
		"nothing listed":             {change: func(r *api.Request) { r.Pathways.Version = "0.9.2" }, want: "jax-0.9.2 tpuv6e:4x4 4"},
		"a map":                      {change: func(r *api.Request) { r.Map = "inputs" }, err: "--map cannot be combined with --backend pathways"},
		"a lock without what it is":  {files: map[string]string{"requirements.txt": "jax==0.9.2 --hash=sha256:" + strings.Repeat("a", 64) + "\n"}, err: "requirements.txt has no pathwaysutils"},
		"packages that are chosen":   {files: map[string]string{"requirements.txt": "jax==0.9.2\npathwaysutils==0.1.11\n"}, want: "jax-0.9.2 tpuv6e:4x4 4"},
		"a version for unpinned JAX": {files: map[string]string{"requirements.txt": "jax\n"}, change: func(r *api.Request) { r.Pathways.Version = "0.9.2" }, want: "jax-0.9.2 tpuv6e:4x4 4"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files[name] = text
			}
			p, err := planOf(t, files, func(r *api.Request, _ *config.Target) {
				r.Backend, r.AcceleratorText = api.BackendPathways, "v6e-16"
				if tt.change != nil {
					tt.change(r)
				}
			})
			if err == nil {
				p, err = p.WithRuntime()
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s := p.Spec
			if got := strings.Join([]string{s.Pathways.Version, s.Pathways.Instance, string(rune('0' + s.Pathways.TPUHosts))}, " "); got != tt.want || s.Hosts != 1 {
				t.Errorf("got %s and %d hosts of the call, want %s and 1", got, s.Hosts, tt.want)
			}
			if image := "us-docker.pkg.dev/cloud-tpu-v2-images/pathways/proxy_server:" + s.Pathways.Version; s.Pathways.Proxy != image {
				t.Errorf("got the proxy %s, want %s", s.Pathways.Proxy, image)
			}
			if adds := strings.Contains(strings.Join(p.Environment.Added, " "), "pathwaysutils"); adds == strings.Contains(tt.files["requirements.txt"], "pathwaysutils") && s.Image != "me/mine:1" {
				t.Errorf("added %q to %q", p.Environment.Added, tt.files["requirements.txt"])
			}
			if strings.Contains(strings.Join(p.Environment.Added, " "), "tpu") { // the chips are another container's
				t.Errorf("added %q", p.Environment.Added)
			}
		})
	}
}

func TestDoubtsOfPathways(t *testing.T) {
	const replaced, unused = "--env %s replaces the value with which JAX reaches the Pathways runtime",
		"--env %s has no effect with --backend pathways, whose compiler runs in another container: pass each flag with --xla-flag"
	for variable, want := range map[string]string{
		"XLA_FLAGS":                                unused,
		"LIBTPU_INIT_ARGS":                         unused,
		"JAX_BACKEND_TARGET":                       replaced,
		"ENABLE_PATHWAYS_PERSISTENCE":              replaced,
		"IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS": replaced,
		"JAX_PLATFORMS":                            "",
	} {
		for _, backend := range []api.Backend{api.BackendPathways, api.BackendLWS} {
			p, err := planOf(t, map[string]string{"requirements.txt": "jax==0.9.2\n"}, func(r *api.Request, _ *config.Target) {
				r.Backend, r.AcceleratorText, r.Env = backend, "v6e-16", []api.EnvVar{{Name: variable, Value: "proxy"}}
			})
			if err != nil {
				t.Fatalf("%s, %s: %v", variable, backend, err)
			}
			var about []string
			for _, warning := range p.Warnings {
				if strings.Contains(warning, variable) {
					about = append(about, warning)
				}
			}
			var wanted []string
			if want != "" && backend == api.BackendPathways {
				wanted = []string{fmt.Sprintf(want, variable)}
			}
			if !slices.Equal(about, wanted) {
				t.Errorf("%s, %s: got the warnings %q, want %q", variable, backend, about, wanted)
			}
		}
	}
}

// The version of JAX is that of the wheels, once they are known.
func TestRuntimeOfWheels(t *testing.T) {
	p := Planned{Spec: api.Spec{Pathways: &api.Pathways{}}, request: api.Request{Pathways: api.PathwaysWish{Images: "mirror.example/pw"}}}
	p = p.WithEnvironment(decide.Provided{Wheels: []wheel.Source{{File: "jaxlib-0.9.1-cp312-cp312-manylinux_2_27_x86_64.whl"}, {File: "jax-0.9.2-py3-none-any.whl"}}})
	p, err := p.WithRuntime()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Spec.Pathways.Server; got != "mirror.example/pw/server:jax-0.9.2" {
		t.Errorf("got %s", got)
	}
}

func TestFindRuntime(t *testing.T) {
	server := httptest.NewServer(images.New(images.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/pw"
	for _, ref := range []string{"server:jax-0.9.1", "server:jax-0.9.2", "proxy_server:jax-0.9.2"} {
		random, err := random.Image(10, 1)
		if err != nil {
			t.Fatal(err)
		}
		tag, err := name.NewTag(repository + "/" + ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(tag, random); err != nil {
			t.Fatal(err)
		}
	}
	find := func(repository, version string) (Planned, error) {
		p := Planned{Spec: api.Spec{Pathways: &api.Pathways{}}}
		p.request.Pathways.Images = repository
		setImages(p.Spec.Pathways, repository, version)
		return p.FindRuntime(context.Background(), &image.Client{})
	}
	p, err := find(repository, "jax-0.9.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{p.Spec.Pathways.Server, p.Spec.Pathways.Proxy} {
		if !strings.Contains(ref, "server:jax-0.9.2@sha256:") {
			t.Errorf("%s has no digest", ref)
		}
	}
	var mistake *InputError
	if _, err = find(repository, "jax-0.9.1"); !errors.As(err, &mistake) || !strings.HasSuffix(err.Error(), "the nearest are jax-0.9.2") {
		t.Errorf("without a proxy: got %v", err)
	}
	server.Close()
	p, err = find(repository, "jax-0.9.2")
	if err != nil || len(p.Warnings) != 1 || strings.Contains(p.Spec.Pathways.Server, "@") {
		t.Errorf("without a registry: got %v, %q, %s", err, p.Warnings, p.Spec.Pathways.Server)
	}
}
