package submit

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestNewID(t *testing.T) {
	v5e1 := api.Accelerator{Kind: api.TPU, Name: "v5e", Chips: 1}
	l4x2 := api.Accelerator{Kind: api.GPU, Name: "l4", Chips: 2}
	rtx := api.Accelerator{Kind: api.GPU, Name: "rtx-pro-6000", Chips: 8}
	cpu := api.Accelerator{Kind: api.CPU, Name: "cpu"}
	when := time.Date(2026, 4, 17, 17, 30, 12, 0, time.FixedZone("CEST", 2*3600))

	tests := map[string]struct {
		acc  api.Accelerator
		name string
		want string
	}{
		"the example of the documents":     {v5e1, "train_model", "v5e1-train-model-20260417-153012-abc1234"},
		"several GPUs":                     {l4x2, "train", "l4x2-train-20260417-153012-abc1234"},
		"runs of other characters":         {cpu, "__Train (v2)__", "cpu-train-v2-20260417-153012-abc1234"},
		"letters outside of ASCII":         {cpu, "été", "cpu-t-20260417-153012-abc1234"},
		"nothing left":                     {cpu, "___", "cpu-job-20260417-153012-abc1234"},
		"a long name is cut with a hash":   {cpu, strings.Repeat("abc", 20), "cpu-abcabcabcabcabcab-ca22-20260417-153012-abc1234"},
		"no dash before the hash":          {cpu, "abcdefghijklmnop_qrstuvwxyz", "cpu-abcdefghijklmnop-d611-20260417-153012-abc1234"},
		"a long accelerator leaves little": {rtx, "finetune_gemma", "rtx-pro-6000x8-finetu-e96d-20260417-153012-abc1234"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := newID(tt.acc, tt.name, Identity{When: when, Hex: "abc1234"}, maxID)
			if err := store.CheckID(got); err != nil {
				t.Error(err)
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestNewIDKeepsLongNamesApart(t *testing.T) {
	cpu := api.Accelerator{Kind: api.CPU, Name: "cpu"}
	id := Identity{When: time.Unix(0, 0), Hex: "0000000"}
	long := strings.Repeat("x", 60)
	if newID(cpu, long+"1", id, maxID) == newID(cpu, long+"2", id, maxID) {
		t.Error("two long names that differ at the end have the same id")
	}
}

func TestCallName(t *testing.T) {
	tests := map[string]struct {
		call api.Call
		want string
	}{
		"function": {api.Call{Kind: api.CallFunction, Module: "pkg.train", Function: "fit"}, "fit"},
		"script":   {api.Call{Kind: api.CallFile, File: "examples/iris/train.py"}, "train"},
		"module":   {api.Call{Kind: api.CallModule, Module: "pkg.tools.bench"}, "bench"},
		"command":  {api.Call{Kind: api.CallCommand, Args: []string{"/usr/bin/env", "x"}}, "env"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := callName(tt.call); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzNewID(f *testing.F) {
	for _, s := range []string{"train", "__x__", "é", strings.Repeat("a-", 40), ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		acc := api.Accelerator{Kind: api.GPU, Name: "rtx-pro-6000", Chips: 8}
		id := newID(acc, name, Identity{When: time.Unix(0, 0), Hex: "0123abc"}, maxID)
		if err := store.CheckID(id); err != nil {
			t.Errorf("name %q: %v", name, err)
		}
	})
}

func TestNameWarnings(t *testing.T) {
	for name, want := range map[string]string{
		"":                         "",
		"run_1":                    "",
		"My run":                   "",
		"Ünï":                      "--name Ünï: shortened to n in the job's ID: IDs have at most 50 characters: a-z, 0-9 and '-'",
		strings.Repeat("long", 20): "--name " + strings.Repeat("long", 20) + ": shortened to longlonglonglongl-5aa1 in the job's ID: IDs have at most 50 characters: a-z, 0-9 and '-'",
	} {
		s := api.Spec{Placement: api.Placement{Accelerator: api.Accelerator{Name: "cpu", Kind: api.CPU}}}
		s.ID = newID(s.Accelerator, name, Identity{When: time.Unix(0, 0), Hex: "0123abc"}, maxID)
		if got := strings.Join(nameWarnings(name, &s, maxID), "\n"); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
