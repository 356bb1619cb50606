package accelerator

import "testing"

func TestQuotas(t *testing.T) {
	for text, want := range map[string][2]string{
		"l4x2":           {"NVIDIA_L4_GPUS", "GPUS-PER-GPU-FAMILY-per-project-region, gpu_family=NVIDIA_L4"},
		"a100-80gb:spot": {"PREEMPTIBLE_NVIDIA_A100_80GB_GPUS", "PREEMPTIBLE-NVIDIA-A100-80GB-GPUS-per-project-region"},
		"h100-mega":      {"NVIDIA_H100_MEGA_GPUS", "GPUS-PER-GPU-FAMILY-per-project-region, gpu_family=NVIDIA_H100_MEGA"},
		"rtx-pro-6000":   {"NVIDIA_RTX_PRO_6000_GPUS", "GPUS-PER-GPU-FAMILY-per-project-region, gpu_family=NVIDIA_RTX_PRO_6000"},
		"v5e-8":          {"TPU_LITE_PODSLICE_V5", ""},
		"v4-8:spot":      {"PREEMPTIBLE_TPU_PODSLICE_V4", ""},
		"v6e-8":          {"", "TPUS-PER-TPU-FAMILY-per-project-region, tpu_family=CT6E"},
		"v6e-8:spot":     {"", "PREEMPTIBLE-TPU-V6E-per-project-region"},
		"v5p-8":          {"", "TPUS-PER-TPU-FAMILY-per-project-region, tpu_family=CT5P"},
		"tpu7x-8:spot":   {"", "TPUS-PER-TPU-FAMILY-per-project-region, tpu_family=TPU7X"},
		"v3":             {"", ""},
	} {
		a, err := Parse(text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{QuotaMetric(a), QuotaID(a)}; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
