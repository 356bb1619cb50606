package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

// answers of a run in Google Cloud in which all goes well with the Pathways runtime.
var withPathways = []fakeAnswer{
	{Has: "run pathways.py:total --pathways-version", Code: exitUsage,
		Events: `{"event":"error","code":2,"message":"there is no Pathways runtime jax-0.0.1 (…): choose another; the nearest are jax-0.5.3, jax-0.8.0"}`},
	{Has: "run pathways.py:total", Out: "[16,1,16,523776]\n", Events: `{"event":"submitted","job":{"job_id":"v5e-1"}}`},
	{Has: "run pathways.py:survive", Events: `{"event":"submitted","job":{"job_id":"v5e-2"}}`},
	{Has: "jobs describe v5e-2", Out: `{"hosts": [{"node": "n1"}], "parts": [{"name": "rm", "node": "n1"}, {"name": "worker-0", "node": "n1"}, {"name": "worker-1", "node": "n2"}]}`},
	{Has: "jobs result v5e-2", Out: `[true,"epoch 3"]`},
}

func TestTheStepsWithPathwaysEndAsTheirJobsDo(t *testing.T) {
	tests := map[string]struct {
		only    string
		answers []fakeAnswer
		verdict verdict
		why     string
	}{
		"all chips, and a sum":         {only: "pathways", verdict: passed},
		"one of four hosts":            {only: "pathways", verdict: failed, why: `returned "[4,1,4,523776]"`, answers: []fakeAnswer{{Has: "run pathways.py:total", Out: "[4,1,4,523776]\n"}}},
		"no such version":              {only: "pathways-version", verdict: passed},
		"no such version, but it runs": {only: "pathways-version", verdict: failed, why: "was submitted", answers: []fakeAnswer{{Has: "run pathways.py:total --pathways-version"}}},
		"no such version, and no other is named": {only: "pathways-version", verdict: failed, why: "names no version that exists", answers: []fakeAnswer{{Has: "run pathways.py:total --pathways-version", Code: exitUsage,
			Events: `{"event":"error","code":2,"message":"there is no Pathways runtime jax-0.0.1 (…)"}`}}},
		"the registry does not answer": {only: "pathways-version", verdict: failed, why: "timed out", answers: []fakeAnswer{{Has: "run pathways.py:total --pathways-version", Code: 1, Events: `{"event":"error","message":"timed out"}`}}},
		"a lost host":                  {only: "pathways-lost", verdict: passed},
		"a lost host that only the leader is on": {only: "pathways-lost", verdict: failed, why: "no TPU host beside the leader's",
			answers: []fakeAnswer{{Has: "jobs describe v5e-2", Out: `{"hosts": [{"node": "n1"}], "parts": [{"name": "rm", "node": "n2"}, {"name": "worker-0", "node": "n1"}]}`}}},
		"a lost host, and the first attempt ends": {only: "pathways-lost", verdict: failed, why: "expected", answers: []fakeAnswer{{Has: "jobs result v5e-2", Out: `[false,"epoch 3"]`}}},
		"a cancelled job":                         {only: "pathways-cancel", verdict: passed},
		"a cancelled job whose pods stay":         {only: "pathways-cancel", verdict: failed, why: "job v5e-2 was cancelled, but keeps pods", answers: []fakeAnswer{{Has: "wait --for=delete job-id=v5e-2", Code: 1}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tt.only, append(tt.answers, withPathways...)...)
			cloud := &deletes{}
			f.cloud = cloud
			if err := f.run(t.Context(), t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := f.report.of(tt.only); got != tt.verdict || !strings.Contains(f.out.String(), tt.why) {
				t.Errorf("%s, want %s with %q:\n%s", got, tt.verdict, tt.why, &f.out)
			}
			if tt.only == "pathways-lost" && tt.verdict == passed && !slices.Equal(cloud.nodes, []string{"n2"}) {
				t.Errorf("the machines of %q were deleted", cloud.nodes)
			}
			if cancelled := slices.Contains(f.called(t), "jobs cancel v5e-2"); cancelled != (tt.only == "pathways-cancel") {
				t.Errorf("%q", f.called(t))
			}
		})
	}
}

// deletes keeps the nodes whose machines were deleted.
type deletes struct {
	nowhere
	nodes []string
}

func (d *deletes) deleteMachine(_ context.Context, _ client, _, node string) error {
	d.nodes = append(d.nodes, node)
	return nil
}

// A step that can't be tried is told, and no failure; one that was skipped is.
func TestWhatCannotRunHereIsNoFailure(t *testing.T) {
	f := newFixture(t, "cpu,pathways")
	f.cloud, f.complete = withoutPathways{}, true
	var stdout, stderr bytes.Buffer
	code := f.exit(f.run(t.Context(), t.Context()), &stdout, &stderr)
	if want := "up passed, doctor passed, cpu passed, pathways not here, down passed, left passed"; code != 0 || f.verdicts() != want {
		t.Errorf("exit code %d, %s, want %s", code, f.verdicts(), want)
	}
	if !strings.HasSuffix(stdout.String(), "\n5 passed, 0 failed, 1 skipped\n") || !strings.Contains(f.report.markdown(), "- **pathways**: it needs Google's Pathways runtime") {
		t.Errorf("%s\n%s", &stdout, f.report.markdown())
	}
	if calls := strings.Join(f.called(t), "\n"); strings.Contains(calls, "pathways") {
		t.Errorf("it was tried: %s", calls)
	}
}

// withoutPathways lacks what this machine's cluster lacks.
type withoutPathways struct{ nowhere }

func (withoutPathways) lacks(s step) string { return local{}.lacks(s) }
