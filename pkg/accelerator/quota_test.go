package accelerator

import "testing"

func TestQuotaMetric(t *testing.T) {
	for text, want := range map[string]string{"l4x2": "NVIDIA_L4_GPUS", "a100-80gb:spot": "PREEMPTIBLE_NVIDIA_A100_80GB_GPUS"} {
		a, err := Parse(text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := QuotaMetric(a); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
