package render

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestRejects(t *testing.T) {
	env := func(name, value string) func(*api.Spec) {
		return func(s *api.Spec) { s.Env = append(s.Env, api.EnvVar{Name: name, Value: value}) }
	}
	for name, c := range map[string]struct {
		change func(*api.Spec)
		want   string
	}{
		"an id that is no name":       {func(s *api.Spec) { s.ID = "A/../b" }, `job id "A/../b"`},
		"no namespace":                {func(s *api.Spec) { s.Namespace = "" }, "has no namespace"},
		"no image":                    {func(s *api.Spec) { s.Image = "" }, "has no image"},
		"no store":                    {func(s *api.Spec) { s.Store = "" }, "has no store"},
		"no call":                     {func(s *api.Spec) { s.CallSHA256 = "" }, "has no hash of the call"},
		"no bundle":                   {func(s *api.Spec) { s.BundleSHA256 = "" }, "has no hash of the bundle"},
		"a backend without manifests": {func(s *api.Spec) { s.Backend = api.BackendLocal }, `backend "local" has no manifests`},
		"hosts that are not those of the topology": {func(s *api.Spec) { s.Hosts = 4 }, "is on 4 hosts; 1 slices of v6e8 have 1"},
		"no host":                             {func(s *api.Spec) { s.Hosts = 0 }, "is on 0 hosts; want 1 to 10000"},
		"more hosts than names have room for": {func(s *api.Spec) { s.Hosts = 10_001 }, "is on 10001 hosts"},
		"no slice":                            {func(s *api.Spec) { s.Slices = 0 }, "0 slices"},
		"slices that are not alike":           {func(s *api.Spec) { s.Hosts, s.Slices = 3, 2 }, "no whole number for each of its 2 slices"},
		"slices without pathways":             {func(s *api.Spec) { s.Hosts, s.Slices = 2, 2 }, "only backend pathways joins slices"},
		"retries of hosts that end together":  {func(s *api.Spec) { s.Accelerator, s.Hosts, s.Retries = cpu, 2, 1 }, "the loss of one of several hosts is the end"},
		"spot and a reservation":              {func(s *api.Spec) { spot(s); reservation(s) }, "spot capacity and a reservation; they exclude each other"},
		"flex-start and a class":              {func(s *api.Spec) { flexStart(s); computeClass(s) }, "flex-start and a ComputeClass; they exclude each other"},
		"the variable of the hosts":           {env("KINETIC_HOSTS", "1"), "env KINETIC_HOSTS: the job sets it itself"},
		"a debugger for several hosts":        {func(s *api.Spec) { s.Accelerator, s.Hosts, s.Debug = cpu, 2, true }, "is debugged on 2 hosts; a debugger is for one"},
		"retries on something else":           {func(s *api.Spec) { s.RetryOn = "always" }, `is retried on "always"; want crash or error`},
		"retries on errors of a map":          {func(s *api.Spec) { mapped(s); s.Accelerator, s.RetryOn = cpu, api.RetryOnError }, "is retried on errors; that is not for maps"},
		"another port for the debugger":       {func(s *api.Spec) { s.Debug = true; env("KINETIC_DEBUG_PORT", "1")(s) }, "env KINETIC_DEBUG_PORT: the debugger needs it"},
		"a map on several hosts":              {func(s *api.Spec) { mapped(s); s.Accelerator, s.Hosts, s.Retries = cpu, 2, 0 }, "is a map; that is for pods by themselves"},
		"a map without inputs":                {func(s *api.Spec) { mapped(s); s.Map.Inputs = 0 }, "is an incomplete map"},
		"a map of too many chunks":            {func(s *api.Spec) { mapped(s); s.Map.Inputs = 1e8 }, "is a map of 4000000 chunks"},
		"more pods at a time than there are":  {func(s *api.Spec) { mapped(s); s.Map.Parallelism = 41 }, "is a map of 40 chunks, 41 at a time"},
		"the number of a pod of a map":        {func(s *api.Spec) { mapped(s); env("JOB_COMPLETION_INDEX", "1")(s) }, "env JOB_COMPLETION_INDEX: it tells a pod of a map"},
		"an unknown kind":                     {func(s *api.Spec) { s.Accelerator.Kind = "npu" }, `is of kind "npu"; want cpu, gpu or tpu`},
		"an unknown architecture":             {func(s *api.Spec) { s.Accelerator.Arch = "riscv" }, `architecture "riscv"; want arm64`},
		"a shape without chips":               {func(s *api.Spec) { s.Accelerator.ChipsPerHost = 0 }, "is incomplete"},
		"a shape without a label":             {func(s *api.Spec) { s.Accelerator.Label = "" }, "is incomplete"},
		"a shape without a resource":          {func(s *api.Spec) { s.Accelerator.Resource = "" }, "is incomplete"},
		"a slice without topology":            {func(s *api.Spec) { s.Accelerator.Topology = "" }, "is incomplete"},
		"retries below nothing":               {func(s *api.Spec) { s.Retries = -1 }, "asks for -1 retries; want 0 to 1000"},
		"retries that kustomize would round":  {func(s *api.Spec) { s.Retries = 1_000_000 }, "want 0 to 1000"},
		"a variable twice":                    {func(s *api.Spec) { env("A", "1")(s); env("A", "2")(s) }, "env A is given twice"},
		"a variable that is a secret too":     {func(s *api.Spec) { env("A", "1")(s); s.SecretEnv = []string{"A"} }, "env A is given twice"},
		"the variable of the pod":             {env("KINETIC_POD_UID", "1"), "env KINETIC_POD_UID: the job sets it itself"},
		"a value that is not text":            {env("A", "secret\xff"), "value of env A: it is not UTF-8"},
		"a value with a zero byte":            {env("A", "secret\x00"), "value of env A: it has the control character U+0000"},
		"a value with a delete character":     {env("A", "secret\x7f"), "value of env A: it has the control character U+007F"},
		"a value with a next-line character":  {env("A", "secret\u0085"), "value of env A: it has the control character U+0085"},
		"a value that is no character":        {env("A", "secret\uffff"), "value of env A: it has the control character U+FFFF"},
		"lines that begin with a tab":         {env("A", "\tsecret\n"), "value of env A: a text of several lines can't begin with a tab"},
		"a name that is not text":             {func(s *api.Spec) { s.Name = "\xff" }, "name of job"},
		"an output directory with a control":  {func(s *api.Spec) { s.OutputDir = "gs://b/\x7f" }, "output directory of job"},
		"an annotation with a control":        {func(s *api.Spec) { s.Annotations = map[string]string{"a": "\x7f"} }, "value of annotation a"},
		"an annotation that hides the job": {
			func(s *api.Spec) { s.Annotations = map[string]string{"config.kubernetes.io/local-config": "true"} },
			"annotation config.kubernetes.io/local-config: kustomize keeps",
		},
		"an annotation that is a number": {func(s *api.Spec) { s.Annotations = map[string]string{"5": "a"} }, "annotation 5: kustomize takes a number"},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSpec(v6e8, c.change)
			_, _, err := render(s, Overlay{}, findTestRunner, false)
			if err == nil {
				t.Fatalf("no error, want one with %q", c.want)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells a value: %q", err)
			}
		})
	}
}

func TestLabelValue(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":                           "v1.2.3",
		"v1.2.3+dirty":                     "v1.2.3-dirty",
		"(devel)":                          "devel",
		"":                                 "",
		"+++":                              "",
		strings.Repeat("1", 70):            strings.Repeat("1", 63),
		strings.Repeat("1", 62) + "+dirty": strings.Repeat("1", 62),
	} {
		if got := labelValue(version); got != want {
			t.Errorf("%q: got %q, want %q", version, got, want)
		}
	}
}

func TestPointer(t *testing.T) {
	for key, want := range map[string]string{
		"plain":     "/at/plain",
		"a.b/c":     "/at/a.b~1c",
		"a~b":       "/at/a~0b",
		"a~1b/c~0d": "/at/a~01b~1c~00d",
	} {
		if got := pointer("/at", key); got != want {
			t.Errorf("%q: got %s, want %s", key, got, want)
		}
	}
}
