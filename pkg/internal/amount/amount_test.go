package amount

import "testing"

func TestSize(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "16Gi": "", "100M": "", "2G": "",
		"2":     `--memory "2": that is 2 bytes; did you mean 2Gi?`,
		"2GB":   `--memory "2GB": did you mean 2Gi?`,
		"1.5g":  `--memory "1.5g": did you mean 1.5Gi?`,
		"1Mi":   `--memory "1Mi": Python needs at least 16Mi`,
		"GB":    `--memory "GB": not a Kubernetes quantity such as 500m, 4 or 16Gi`,
		"0":     `--memory "0": must be positive`,
		"1.2.3": `--memory "1.2.3": not a Kubernetes quantity such as 500m, 4 or 16Gi`,
		"-1Gi":  `--memory "-1Gi": must be positive`,
	} {
		got := ""
		if err := Size("--memory", value); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func TestPositive(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "500m": "", "4": "",
		"0":    `KINETIC_CPU "0": must be positive`,
		"four": `KINETIC_CPU "four": not a Kubernetes quantity such as 500m, 4 or 16Gi`,
	} {
		got := ""
		if err := Positive("KINETIC_CPU", value); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
