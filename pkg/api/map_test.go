package api

import "testing"

// The chunks of a map that takes values over are made of the other inputs.
func TestChunkOf(t *testing.T) {
	for name, tt := range map[string]struct {
		m        Map
		computed int
		chunks   int
		of       map[int]int // -1 for none
	}{
		"all":         {Map{Inputs: 25, Chunk: 10}, 25, 3, map[int]int{0: 0, 9: 0, 10: 1, 24: 2}},
		"one of many": {Map{Inputs: 40, Chunk: 3, Only: []Range{{39, 39}}}, 1, 1, map[int]int{0: -1, 38: -1, 39: 0}},
		"some": {Map{Inputs: 40, Chunk: 3, Only: []Range{{1, 2}, {5, 8}, {20, 20}}}, 7, 3,
			map[int]int{1: 0, 2: 0, 3: -1, 5: 0, 6: 1, 8: 1, 20: 2, 21: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			if n := tt.m.Computed(); n != tt.computed {
				t.Errorf("%d are computed, want %d", n, tt.computed)
			}
			if n := tt.m.Chunks(); n != tt.chunks {
				t.Errorf("%d chunks, want %d", n, tt.chunks)
			}
			for input, want := range tt.of {
				if got, computed := tt.m.ChunkOf(input); computed != (want >= 0) || computed && got != want {
					t.Errorf("input %d: chunk %d, %v; want %d", input, got, computed, want)
				}
			}
		})
	}
}

func TestVerdictOf(t *testing.T) {
	pickle := "results/0.pkl"
	for _, r := range []Result{{OK: true}, {}, {OK: true, Pickle: &pickle}, {Pickle: &pickle}} {
		if v, told := VerdictOf(r.Verdict().Metadata()); !told || v.OK != r.OK || v.Pickled != (r.Pickle != nil) {
			t.Errorf("%+v: got %+v, %v", r, v, told)
		}
	}
	for _, metadata := range []map[string]string{nil, {"ok": "true"}, {"pickled": "false"}, {"ok": "yes", "pickled": "false"}} {
		if _, told := VerdictOf(metadata); told {
			t.Errorf("%v tells a verdict", metadata)
		}
	}
}
