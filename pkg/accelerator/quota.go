package accelerator

import (
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// AllGPUs is Compute Engine's name for the quota of the GPUs of a project in all regions together. New projects
// have none.
const AllGPUs = "GPUS_ALL_REGIONS"

// QuotaMetric returns Compute Engine's name for the quota of an accelerator in a region: NVIDIA_L4_GPUS. The
// quotas of most TPUs have no such name: then it is "".
func QuotaMetric(a api.Accelerator) string {
	metric := ""
	switch {
	case a.Kind == api.GPU:
		metric = "NVIDIA_" + gpuFamily(a) + "_GPUS"
	case a.Name == v5e:
		metric = "TPU_LITE_PODSLICE_V5"
	case a.Name == "v4":
		metric = "TPU_PODSLICE_V4"
	}
	if a.Spot && metric != "" {
		return "PREEMPTIBLE_" + metric
	}
	return metric
}

// QuotaID returns what to ask Google Cloud for if a region lists no QuotaMetric: the ID of a quota in Cloud
// Quotas, with its dimension, such as "GPUS-PER-GPU-FAMILY-per-project-region, gpu_family=NVIDIA_H200"; "" if
// that is not known.
func QuotaID(a api.Accelerator) string {
	// tpuFamilies are the names of TPUs in the quotas for which Compute Engine has no metric.
	tpuFamilies := map[string]string{"v5p": "CT5P", "v6e": "CT6E", "tpu7x": "TPU7X"}
	family, known := tpuFamilies[a.Name]
	switch {
	case a.Kind == api.GPU && a.Spot:
		return "PREEMPTIBLE-NVIDIA-" + strings.ReplaceAll(gpuFamily(a), "_", "-") + "-GPUS-per-project-region"
	case a.Kind == api.GPU:
		return "GPUS-PER-GPU-FAMILY-per-project-region, gpu_family=NVIDIA_" + gpuFamily(a)
	case known && a.Spot && a.Name != "tpu7x":
		return "PREEMPTIBLE-TPU-" + strings.ToUpper(a.Name) + "-per-project-region"
	case known:
		return "TPUS-PER-TPU-FAMILY-per-project-region, tpu_family=" + family
	}
	return ""
}

// gpuFamily returns how quotas spell a GPU: A100_80GB.
func gpuFamily(gpu api.Accelerator) string {
	return strings.ToUpper(strings.ReplaceAll(gpu.Name, "-", "_"))
}
