package render

import (
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// testRunner stands for the real one, which golden files should not follow.
var testRunner = program{zip: []byte("the runner"), sha256: strings.Repeat("0123456789abcdef", 4)}

// testSpec is a job that says nothing but what every job says. All have one ID, so that manifests differ in little.
func testSpec(a api.Accelerator, options ...func(*api.Spec)) api.Spec {
	a.Hosts = max(a.Hosts, 1)
	s := api.Spec{
		ID:            "test-train-20260417-153012-abc1234",
		Name:          "train",
		Namespace:     "default",
		Store:         "gs://p-kn-c-jobs",
		CallKind:      api.CallFunction,
		CallText:      `train.py:train(epochs=3, name="x")`,
		CallSHA256:    "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
		BundleSHA256:  "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
		ClientVersion: "v0.1.0",
		Created:       time.Date(2026, 4, 17, 15, 30, 12, 0, time.UTC),
		Placement:     api.Placement{Accelerator: a, Backend: api.BackendGKE, AcceleratorText: a.Short(), Hosts: a.Hosts, Slices: 1, Image: "us-docker.pkg.dev/p/kn/base-cpu:v1", ServiceAccount: api.DefaultServiceAccount},
		Execution:     api.Execution{MaxDisruptions: api.DefaultMaxDisruptions},
	}
	for _, option := range options {
		option(&s)
	}
	return s
}

func gpu(name, label string, chips int) api.Accelerator {
	return api.Accelerator{Kind: api.GPU, Name: name, Chips: chips, ChipsPerHost: chips, Resource: "nvidia.com/gpu", Label: label}
}

func tpu(name, label, topology string, chips int) api.Accelerator {
	return api.Accelerator{Kind: api.TPU, Name: name, Topology: topology, Chips: chips, ChipsPerHost: chips, Resource: "google.com/tpu", Label: label}
}

func arm(a api.Accelerator) api.Accelerator {
	a.Arch = archARM
	return a
}

// mapped is 1,000 inputs in 40 chunks, 10 at a time.
func mapped(s *api.Spec) {
	s.Map = &api.Map{InputsSHA256: "ab530a13e45914982b79f9b7e3fba994cfd1f3fb22f71cea1afbf02b460c6d1d", Inputs: 1000, Chunk: 25, Parallelism: 10}
	s.Retries = 2
}

func spot(s *api.Spec) { s.Capacity.Kind = api.CapacitySpot }

func reservation(s *api.Spec) {
	s.Capacity = api.Capacity{Kind: api.CapacityReservation, Name: "projects/shared/reservations/block-7"}
}

func flexStart(s *api.Spec) { s.Capacity.Kind = api.CapacityFlexStart }

func computeClass(s *api.Spec) { s.Capacity = api.Capacity{Kind: api.CapacityClass, Name: "any-tpu"} }

// builtIn is a compute class of Autopilot.
func builtIn(name string) func(*api.Spec) { return func(s *api.Spec) { s.AutopilotClass = name } }

func block(s *api.Spec) {
	reservation(s)
	s.Capacity.Name += "/reservationBlocks/b-1/reservationSubBlocks/s-2"
}

func sharedPools(s *api.Spec) { s.NodePools = api.NodePoolsShared }

func restricted(s *api.Spec) { s.Restricted = true }

func requests(s *api.Spec) { s.CPU, s.Memory, s.Disk = "90", "720Gi", "50Gi" }

// hosts are those of a job without a slice.
func hosts(n int) func(*api.Spec) { return func(s *api.Spec) { s.Hosts = n } }

// lws is what several hosts have by default, in so many slices.
func lws(slices int) func(*api.Spec) {
	return func(s *api.Spec) {
		s.Backend, s.Slices = api.BackendLWS, slices
		s.Hosts *= slices
	}
}

// pathways is the Pathways runtime on a slice.
func pathways(instance string) func(*api.Spec) {
	return func(s *api.Spec) {
		const images = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
		s.Backend, s.Slices = api.BackendPathways, 1
		s.Pathways = &api.Pathways{Version: "jax-0.9.2", Server: images + "/server:jax-0.9.2", Proxy: images + "/proxy_server:jax-0.9.2", TPUHosts: s.Hosts, Instance: instance}
		s.Hosts = 1
	}
}

func compilerFlags(s *api.Spec) {
	s.Pathways.XLAFlags = []string{"--xla_tpu_enable_latency_hiding_scheduler=true", "--xla_dump_to=$(HOME)"}
}

func openNetwork(s *api.Spec) { s.Pathways.OpenNetwork = true }

// slice is a TPU on several hosts with 4 chips each.
func slice(name, label, topology string, hosts int) api.Accelerator {
	a := tpu(name, label, topology, 4*hosts)
	a.Hosts, a.ChipsPerHost = hosts, 4
	return a
}

// network is what the GPUs of several hosts talk over.
func network(n api.Network, podNetworks ...string) func(*api.Spec) {
	return func(s *api.Spec) { s.Network, s.PodNetworks = n, podNetworks }
}

func prebuilt(s *api.Spec) {
	s.EnvironmentSHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
}

func everything(s *api.Spec) {
	s.Env = []api.EnvVar{{Name: "LR", Value: "0.1"}, {Name: "KERAS_BACKEND", Value: "torch"}, {Name: "EMPTY"}}
	s.SecretEnv = []string{"HF_TOKEN", "WANDB_API_KEY"}
	s.OutputDir = "gs://elsewhere/runs/$(date)"
	s.Retries = 3
	s.MaxRuntime = 90*time.Minute + time.Millisecond
	s.HangTimeout, s.HangAction = 10*time.Minute, api.HangRestart
	s.MaxCost, s.Budget = 12.5, 75*time.Minute
	s.Cache = &api.Cache{Scope: "ana/vision/l4", Bytes: 500 << 20}
	s.MaxDisruptions = 0
	s.StoreCredentials = "bucket-key"
	s.ServiceAccount = "trainer"
	s.Queue = "team-a"
	s.PriorityClass = "high"
	s.CPU, s.Memory, s.MemoryLimit = "500m", "16Gi", "20Gi"
	s.Labels = map[string]string{"team": "vision", "example.com/cost": "on"}
	s.Annotations = map[string]string{"example.com/note": "why: not & <this>?\n- a list\n"}
	s.Namespace = "ml"
}

// inputs are data that is copied, at places of the runner's and of the user's choice, and
// volumes of claims.
func inputs(s *api.Spec) {
	s.Data = []api.Data{
		{Name: "images", Source: "images", Access: api.AccessCopy, Set: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
		{Mount: "/mnt/set", Source: "gs://team/set", Access: api.AccessCopy, URL: "gs://team/set"},
		{Name: "labels", Source: "pvc://datasets/labels", Access: api.AccessClaim, Claim: "datasets", File: "labels", Path: "/kinetic-data/labels"},
		{Mount: "/mnt/datasets", Source: "pvc://datasets", Access: api.AccessClaim, Claim: "datasets", Path: "/mnt/datasets", Writable: true},
		{Mount: "/mnt/models", Source: "pvc://models", Access: api.AccessClaim, Claim: "models", Path: "/mnt/models"},
	}
}

// buckets are data and volumes that are mounted from buckets.
func buckets(s *api.Spec) {
	s.Data = []api.Data{
		{Name: "images", Source: "gs://acme/set/images", Access: api.AccessFUSE, Bucket: "acme", Folder: "set", File: "images", Path: "/kinetic-data/images"},
		{Name: "labels", Source: "gs://acme/set/labels", Access: api.AccessFUSE, Bucket: "acme", Folder: "set", File: "labels", Path: "/kinetic-data/labels"},
		{Mount: "/mnt/out", Source: "gs://acme/out", Access: api.AccessFUSE, Bucket: "acme", Folder: "out", Path: "/mnt/out", Writable: true},
		{Name: "local", Source: "./local", Access: api.AccessFUSE, Set: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752", Path: "/kinetic-data/local", Cache: "20Gi"},
	}
}

func diskClass(s *api.Spec) {
	s.Disk, s.DiskClass, s.DiskVolume = "200Gi", "hyperdisk-balanced", true
}

// defaultDisk is a disk of the cluster's default StorageClass.
func defaultDisk(s *api.Spec) { s.Disk, s.DiskVolume = "200Gi", true }

var (
	cpu    = api.Accelerator{Kind: api.CPU, Name: "cpu"}
	l4     = gpu("l4", "nvidia-l4", 1)
	v6e8   = tpu("v6e", "tpu-v6e-slice", "2x4", 8)
	v5p16  = slice("v5p", "tpu-v5p-slice", "2x2x4", 4)
	v6e16  = slice("v6e", "tpu-v6e-slice", "4x4", 4)
	b200   = gpu("b200", "nvidia-b200", 8)
	mega   = gpu("h100-mega", "nvidia-h100-mega-80gb", 8)
	v5e1   = tpu("v5e", "tpu-v5-lite-podslice", "1x1", 1)
	family = map[string]api.Spec{
		"cpu":              testSpec(cpu),
		"cpu-spot":         testSpec(cpu, spot),
		"cpu-requests":     testSpec(cpu, func(s *api.Spec) { s.CPU, s.Memory = "1", "2Gi" }),
		"cpu-limit":        testSpec(cpu, func(s *api.Spec) { s.MemoryLimit = "2Gi" }),
		"cpu-reservation":  testSpec(cpu, func(s *api.Spec) { reservation(s); s.Capacity.Name = "mine" }),
		"cpu-debug":        testSpec(cpu, func(s *api.Spec) { s.Debug, s.StoreCredentials = true, "keys" }),
		"cpu-retry-on":     testSpec(cpu, func(s *api.Spec) { s.Retries, s.RetryOn = 3, api.RetryOnError }),
		"cpu-everything":   testSpec(cpu, spot, everything),
		"cpu-environment":  testSpec(cpu, prebuilt),
		"cpu-moving":       testSpec(cpu, func(s *api.Spec) { s.ImageMoves = true }),
		"cpu-data":         testSpec(cpu, inputs),
		"cpu-buckets":      testSpec(cpu, buckets),
		"l4-buckets":       testSpec(l4, buckets, builtIn("Accelerator")),
		"cpu-disk-class":   testSpec(cpu, diskClass),
		"cpu-disk-default": testSpec(cpu, defaultDisk, builtIn("Balanced")),
		"cpu-output-mount": testSpec(cpu, func(s *api.Spec) { s.OutputMount = true }),
		"l4":               testSpec(l4),
		"l4-spot":          testSpec(l4, spot),
		"l4x4":             testSpec(gpu("l4", "nvidia-l4", 4)),
		"l4-everything":    testSpec(l4, everything),
		"a100-80gb":        testSpec(gpu("a100-80gb", "nvidia-a100-80gb", 1)),
		"gb200":            testSpec(arm(gpu("gb200", "nvidia-gb200", 4))),
		"gb200-spot":       testSpec(arm(gpu("gb200", "nvidia-gb200", 4)), spot),
		"v3-4":             testSpec(tpu("v3", "tpu-v3-device", "2x2", 4)),
		"v5e-1":            testSpec(v5e1),
		"v5e-1-spot":       testSpec(v5e1, spot),
		"v5e-8":            testSpec(tpu("v5e", "tpu-v5-lite-podslice", "2x4", 8)),
		"v6e-8":            testSpec(v6e8),
		"v6e-8-spot":       testSpec(v6e8, spot),
		"v6e-8-everything": testSpec(v6e8, spot, everything),
		"v5p-4":            testSpec(tpu("v5p", "tpu-v5p-slice", "2x2x1", 4)),
		"v6e-8-shared":     testSpec(v6e8, reservation),
		"l4-flex-start":    testSpec(l4, flexStart),
		"cpu-flex-start":   testSpec(cpu, flexStart),
		"v6e-8-class":      testSpec(v6e8, computeClass),
		"cpu-class":        testSpec(cpu, computeClass),
		"gb200-class":      testSpec(arm(gpu("gb200", "nvidia-gb200", 4)), computeClass),

		"cpu-scale-out-spot":   testSpec(cpu, builtIn("Scale-Out"), spot),
		"cpu-balanced":         testSpec(cpu, builtIn("Balanced")),
		"l4-accelerator":       testSpec(l4, builtIn("Accelerator"), requests),
		"v6e-8-accelerator":    testSpec(v6e8, builtIn("Accelerator"), block),
		"cpu-restricted":       testSpec(cpu, restricted, everything),
		"v6e-8-requests":       testSpec(v6e8, requests),
		"l4-restricted":        testSpec(l4, restricted, mapped),
		"lws-v5p-16-pools":     testSpec(v5p16, lws(1), sharedPools, restricted),
		"indexed-v6e-16-pools": testSpec(v6e16, sharedPools, buckets),

		"cpu-map":                    testSpec(cpu, mapped),
		"cpu-map-spot":               testSpec(cpu, spot, mapped),
		"l4-map-everything":          testSpec(l4, everything, mapped),
		"lws-v5p-16":                 testSpec(v5p16, lws(1)),
		"lws-v6e-16-slices":          testSpec(v6e16, lws(2), spot),
		"lws-v6e-16-data":            testSpec(v6e16, lws(1), inputs),
		"lws-v6e-16-buckets":         testSpec(v6e16, lws(1), buckets),
		"lws-v6e-16-flex-start":      testSpec(v6e16, lws(1), flexStart),
		"lws-v6e-16-class":           testSpec(v6e16, lws(1), computeClass),
		"lws-v6e-16-everything":      testSpec(v6e16, lws(2), everything, reservation),
		"lws-v6e-8":                  testSpec(slice("v6e", "tpu-v6e-slice", "2x4", 2), lws(1)),
		"pathways-v6e-16":            testSpec(v6e16, pathways("tpuv6e:4x4")),
		"pathways-v5e-8":             testSpec(slice("v5e", "tpu-v5-lite-podslice", "2x4", 2), pathways("tpuv5e:2x4"), spot),
		"pathways-v5p-64":            testSpec(slice("v5p", "tpu-v5p-slice", "4x4x4", 16), pathways("tpuv5:4x4x4"), compilerFlags, openNetwork),
		"pathways-v6e-4":             testSpec(slice("v6e", "tpu-v6e-slice", "2x2", 1), pathways("tpuv6e:2x2"), restricted),
		"pathways-v6e-16-buckets":    testSpec(v6e16, pathways("tpuv6e:4x4"), buckets),
		"pathways-v6e-16-everything": testSpec(v6e16, pathways("tpuv6e:4x4"), spot, everything),
		"lws-v4-4":                   testSpec(slice("v4", "tpu-v4-podslice", "2x2x1", 1), lws(1)),
		"lws-l4x2-2hosts":            testSpec(gpu("l4", "nvidia-l4", 2), hosts(2), lws(1)),
		"lws-b200-rdma":              testSpec(b200, hosts(2), lws(1), network(api.NetworkRDMA)),
		"lws-b200-rdma-everything":   testSpec(b200, hosts(2), lws(1), spot, everything, network(api.NetworkRDMA)),
		"lws-h100-mega-tcpxo":        testSpec(mega, hosts(2), lws(1), network(api.NetworkTCPXO)),
		"indexed-b200-rdma":          testSpec(b200, hosts(4), network(api.NetworkRDMA), inputs),
		"indexed-h100-mega-tcpxo":    testSpec(mega, hosts(4), network(api.NetworkTCPXO, "a", "b", "c", "d", "e", "f", "g", "h")),
		"lws-b200-tcp":               testSpec(b200, hosts(2), lws(1), network(api.NetworkTCP)),
		"lws-cpu-4hosts":             testSpec(cpu, hosts(4), lws(1)),
		"lws-cpu-spot":               testSpec(cpu, hosts(2), lws(1), spot),
		"lws-cpu-1host":              testSpec(cpu, lws(1)),
		"lws-cpu-1host-debug":        testSpec(cpu, lws(1), func(s *api.Spec) { s.Debug = true }),
		"lws-cpu-retry-on":           testSpec(cpu, hosts(2), lws(1), func(s *api.Spec) { s.Retries, s.RetryOn = 3, api.RetryOnError }),
		"lws-cpu-everything":         testSpec(cpu, hosts(2), lws(1), spot, everything),
		"indexed-v6e-16":             testSpec(v6e16),
		"indexed-v6e-16-everything":  testSpec(v6e16, spot, everything, func(s *api.Spec) { s.Retries = 0 }),
		"indexed-v6e-16-shared":      testSpec(v6e16, reservation),
		"indexed-v6e-16-flex-start":  testSpec(v6e16, flexStart),
		"indexed-v6e-16-class":       testSpec(v6e16, computeClass),
		"indexed-cpu-4hosts":         testSpec(cpu, hosts(4)),
		"indexed-l4-spot":            testSpec(l4, hosts(2), spot),

		"tpu7x-4": testSpec(tpu("tpu7x", "tpu7x", "2x2x1", 4)),
	}
)
