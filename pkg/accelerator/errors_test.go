package accelerator

import (
	"strconv"
	"testing"
)

func TestParseErrors(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"empty":                 {"", `it has no name: write one such as cpu, l4x2 or v6e-8`},
		"blanks only":           {"  ", `it has no name: write one such as cpu, l4x2 or v6e-8`},
		"spot of nothing":       {":spot", `it has no name: write one such as cpu, l4x2 or v6e-8`},
		"a prefix only":         {"gpu-", `it has no name: write one such as cpu, l4x2 or v6e-8`},
		"spot twice":            {"l4:spot:spot", `it ends with :spot more than once; write it once`},
		"spot misspelled":       {"l4x2:sopt", `"sopt" is not valid after the colon; write l4x2:spot for spot capacity, or l4x2 without it`},
		"another word for it":   {"tpu-v6e-8:preemptible", `"preemptible" is not valid after the colon; write tpu-v6e-8:spot for spot capacity, or tpu-v6e-8 without it`},
		"spot of the CPU":       {"cpu:sp", `"sp" is not valid after the colon; write cpu:spot for spot capacity, or cpu without it`},
		"no accelerator there":  {"l5:sopt", `there is no accelerator "l5:sopt"; there are cpu, l4, t4, v100, p4, p100, a100, a100-80gb, h100, h100-mega, h200, b200, gb200, gb300, rtx-pro-6000, v3, v4, v5e, v5p, v6e, tpu7x`},
		"a blank before :spot":  {"l4 :spot", `there is no accelerator "l4 "; did you mean "l4"?`},
		"two prefixes":          {"gpu-gpu-l4", `there is no GPU "gpu-l4"; there are l4, t4, v100, p4, p100, a100, a100-80gb, h100, h100-mega, h200, b200, gb200, gb300, rtx-pro-6000`},
		"gpu of gpu":            {"gpu:gpu", `there is no GPU "gpu"; there are l4, t4, v100, p4, p100, a100, a100-80gb, h100, h100-mega, h200, b200, gb200, gb300, rtx-pro-6000`},
		"cpu has no dash":       {"cpu-8", `there is no accelerator "cpu-8"; did you mean "cpu"?`},
		"cpu with a word":       {"cpu:two", `"two" is not valid after the colon; write cpu:spot for spot capacity, or cpu without it`},
		"cpu with other digits": {"cpu:٣", `there is no accelerator "cpu:٣"; did you mean "cpu"?`},
		"cpu with a prefix":     {"tpu-cpu", `there is no TPU "cpu"; there are v3, v4, v5e, v5p, v6e, tpu7x`},

		"v2":                 {"v2", `GKE has no nodes with TPU v2; the nearest are v3-4 and v5e-4`},
		"v2 with a count":    {"tpu-v2-8", `GKE has no nodes with TPU v2; the nearest are v3-4 and v5e-4`},
		"v2 with a topology": {"v2-2x2", `GKE has no nodes with TPU v2; the nearest are v3-4 and v5e-4`},

		"a typing mistake":         {"v6-8", `there is no accelerator "v6-8"; did you mean "v6e", "v3" or "v4"?`},
		"a mistake and many chips": {"tpu-v6-256", `there is no TPU "v6-256"; did you mean "v6e", "v3" or "v4"?`},
		"what public docs lack":    {"tpu7", `there is no accelerator "tpu7"; did you mean "tpu7x"?`},
		"an unknown GPU":           {"gpu-h300", `there is no GPU "h300"; did you mean "h100", "h200" or "gb300"?`},
		"half a name":              {"a100-80", `there is no accelerator "a100-80"; did you mean "a100-80gb", "a100" or "nvidia-a100-80gb"?`},
		"a TPU label is no name":   {"tpu-v5-lite-podslice", `there is no TPU "v5-lite-podslice"; there are v3, v4, v5e, v5p, v6e, tpu7x`},
		"nothing near":             {"banana", `there is no accelerator "banana"; there are cpu, l4, t4, v100, p4, p100, a100, a100-80gb, h100, h100-mega, h200, b200, gb200, gb300, rtx-pro-6000, v3, v4, v5e, v5p, v6e, tpu7x`},
		"bytes that are no text":   {"l4\xff", `there is no accelerator "l4�"; did you mean "l4"?`},

		"a TPU is no GPU":                {"gpu-v3", `v3 is a TPU; write tpu-v3`},
		"a TPU with its count is no GPU": {"gpu:v6e-8", `v6e is a TPU; write tpu-v6e-8`},
		"a GPU is no TPU":                {"tpu-l4", `l4 is a GPU; write gpu-l4`},
		"a GPU, and the count is wrong":  {"tpu-l4-3", `l4 is a GPU; write gpu-l4`},

		"a dash before the number of GPUs":   {"l4-4", `for the number of GPUs, write l4x4`},
		"the same after the prefix":          {"gpu-l4-4", `for the number of GPUs, write l4x4`},
		"a colon before too many GPUs":       {"l4:3", `l4 has no machine with that many GPUs; nearest: l4, l4x2, l4x4, l4x8`},
		"a colon before the chips":           {"v5litepod:4", `for the chips or the topology of a TPU, write v5e-4`},
		"nothing before the chips":           {"v6e8", `for the chips or the topology of a TPU, write v6e-8`},
		"an x before the chips":              {"v5litepodx4", `for the chips or the topology of a TPU, write v5e-4`},
		"a colon before the topology":        {"v5p:2x2x2", `for the chips or the topology of a TPU, write v5p-2x2x2`},
		"neither count nor topology":         {"v5e-big", `"big" is neither a number of chips nor a topology; write v5e-4 or v5e-2x2`},
		"half a topology":                    {"v5e-2x", `"2x" is neither a number of chips nor a topology; write v5e-4 or v5e-2x2`},
		"digits that are not ASCII":          {"v5e-٤", `"٤" is neither a number of chips nor a topology; write v5e-4 or v5e-2x2`},
		"a superscript digit":                {"v5e-²", `"²" is neither a number of chips nor a topology; write v5e-4 or v5e-2x2`},
		"a GPU's number that is not ASCII":   {"l4x٤", `there is no accelerator "l4x٤"; did you mean "l4"?`},
		"a sign is no digit":                 {"v5e--4", `there is no accelerator "v5e--4"; did you mean "v5e"?`},
		"a plus is no digit":                 {"v5e-+4", `"+4" is neither a number of chips nor a topology; write v5e-4 or v5e-2x2`},
		"a number of GPUs that nobody has":   {"l4x3", `l4 has no machine with that many GPUs; nearest: l4, l4x2, l4x4, l4x8`},
		"no GPU at all":                      {"l4x0", `l4 has no machine with that many GPUs; nearest: l4, l4x2, l4x4, l4x8`},
		"a machine that does not exist":      {"a100-80gbx16", `a100-80gb has no machine with that many GPUs; nearest: a100-80gb, a100-80gbx2, a100-80gbx4, a100-80gbx8`},
		"only whole machines":                {"h100-megax1", `h100-mega has no machine with that many GPUs; nearest: h100-megax8`},
		"a number of chips that nobody has":  {"v6e-3", `v6e has no slice of that many chips; nearest: v6e-1, v6e-4, v6e-8, v6e-16`},
		"more digits than an integer has":    {"v5e-99999999999999999999999999", `v5e has no slice of that many chips; nearest: v5e-32, v5e-64, v5e-128, v5e-256`},
		"Cloud TPU counts cores, v3":         {"v3-8", `v3 has no slice of that many chips; nearest: v3-4, v3-16, v3-32, v3-64; Cloud TPU's v3-8 counts cores: here it is v3-4`},
		"Cloud TPU counts cores, v5p":        {"v5p-2", `v5p has no slice of that many chips; nearest: v5p-4, v5p-8, v5p-16, v5p-32; numbers here are chips, not cores as in Cloud TPU's names`},
		"Cloud TPU counts cores, v4 at most": {"v4-8192", `v4 has no slice of that many chips; nearest: v4-512, v4-1024, v4-2048, v4-4096; Cloud TPU's v4-8192 counts cores: here it is v4-4096`},
		"past the documented end of v3":      {"v3-2048", `v3 has no slice of that many chips; nearest: v3-128, v3-256, v3-512, v3-1024; Cloud TPU's v3-2048 counts cores: here it is v3-1024`},
		"a count without a usual box":        {"v5p-192", `v5p has no slice of that many chips; nearest: v5p-64, v5p-128, v5p-256, v5p-512, or by its topology v5p-4x4x12; numbers here are chips, not cores as in Cloud TPU's names`},

		"extents in the wrong order":        {"v5e-4x2", `v5e has no topology 4x2; nearest: 2x4, 2x2, 4x4, 4x8`},
		"extents with zeros":                {"v5e-02x04", `v5e has no topology 02x04; nearest: 2x4, 2x2, 4x4, 4x8`},
		"two extents of a box":              {"v5p-2x2", `v5p has no topology 2x2; nearest: 2x2x1, 2x2x2, 2x2x4, 2x4x4`},
		"three extents of a rectangle":      {"v6e-2x2x1", `v6e has no topology 2x2x1; nearest: 2x2, 2x4, 1x1, 4x4`},
		"four extents":                      {"v4-2x2x2x2", `v4 has no topology 2x2x2x2; nearest: 2x2x4, 2x2x2, 2x4x4, 2x2x1`},
		"a box in the wrong order":          {"v5p-12x4x4", `v5p has no topology 12x4x4; nearest: 4x4x12, 4x8x8, 4x4x8, 8x8x8; above 4x4x4, all dimensions are multiples of 4 in ascending order, with at most 8960 chips in total`},
		"a box of odd extents":              {"v5p-4x4x6", `v5p has no topology 4x4x6; nearest: 4x4x8, 4x4x4, 4x8x8, 2x4x4; above 4x4x4, all dimensions are multiples of 4 in ascending order, with at most 8960 chips in total`},
		"a box of v4 that is too large":     {"v4-4x4x260", `v4 has no topology 4x4x260; nearest: 16x16x16, 8x16x16, 8x8x16, 8x8x8; above 4x4x4, all dimensions are multiples of 4 in ascending order, with at most 4096 chips in total`},
		"a box of v5p that is too large":    {"v5p-16x24x24", `v5p has no topology 16x24x24; nearest: 16x16x16, 8x16x16, 8x8x16, 8x8x8; above 4x4x4, all dimensions are multiples of 4 in ascending order, with at most 8960 chips in total`},
		"a box of tpu7x that is too large":  {"tpu7x-16x24x28", `tpu7x has no topology 16x24x28; nearest: 8x16x16, 8x8x16, 8x8x8, 4x8x8; above 4x4x4, all dimensions are multiples of 4 in ascending order, with at most 9216 chips in total`},
		"a flat box":                        {"v5p-0x4x4", `v5p has no topology 0x4x4; nearest: 2x2x1, 2x2x2, 2x2x4, 2x4x4`},
		"extents that no integer can hold":  {"v4-99999999999x99999999999x99999999999", `v4 has no topology 99999999999x99999999999x99999999999; nearest: 16x16x16, 8x16x16, 8x8x16, 8x8x8; above 4x4x4, all dimensions are multiples of 4 in ascending order, with at most 4096 chips in total`},
		"v3's end in the Python tool":       {"v3-32x64", `v3 has no topology 32x64; nearest: 32x32, 16x32, 16x16, 8x16`},
		"a number that stands for nothing":  {"3", `3 alone is not an accelerator; nearest: 1 (h100), 2 (h100x2), 4 (h100x4), 8 (h100x8)`},
		"a number of no GPU":                {"gpu:32", `32 alone is not an accelerator; nearest: gpu-2 (h100x2), gpu-4 (h100x4), gpu-8 (h100x8), gpu-16 (a100x16)`},
		"a number of no TPU":                {"tpu-2", `2 alone is not an accelerator; nearest: tpu-1 (v5e-1), tpu-4 (v5e-4), tpu-8 (v6e-8), tpu-16 (v6e-16)`},
		"nought":                            {"0", `0 alone is not an accelerator; nearest: 1 (h100), 2 (h100x2), 4 (h100x4), 8 (h100x8)`},
		"a number that no integer can hold": {"tpu:100000000000000000000000", `100000000000000000000000 alone is not an accelerator; nearest: tpu-512 (v4-512), tpu-1024 (v4-1024), tpu-2048 (v4-2048), tpu-4096 (v4-4096)`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tt.text, Options{})
			if err == nil {
				t.Fatalf("Parse(%q) = %s, want an error", tt.text, parsed(got))
			}
			want := "accelerator " + strconv.Quote(tt.text) + ": " + tt.want
			if err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}
