package accelerator

import (
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// QuotaMetric returns Compute Engine's name for the quota of a GPU: NVIDIA_L4_GPUS. Quotas of TPUs have
// no such name.
func QuotaMetric(gpu api.Accelerator) string {
	metric := "NVIDIA_" + strings.ToUpper(strings.ReplaceAll(gpu.Name, "-", "_")) + "_GPUS"
	if gpu.Spot {
		return "PREEMPTIBLE_" + metric
	}
	return metric
}
