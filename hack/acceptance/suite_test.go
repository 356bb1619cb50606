package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// waiting begins the events of a job that gets no machine.
const waiting = `{"event":"submitted","job":{"job_id":"l4-1"}}
{"event":"state","job":"l4-1","state":"PENDING","message":"waiting: `

func TestARunEndsAsItsStepsDo(t *testing.T) {
	tests := map[string]struct {
		only     string
		answers  []fakeAnswer
		max      float64
		verdicts string
		why      string
		code     int
	}{
		"all is well": {only: "cpu,l4",
			verdicts: "up passed, doctor passed, cpu passed, l4 passed, down passed, left passed"},
		"there is no capacity": {only: "l4",
			answers: []fakeAnswer{{Has: "run chips.py:gpus --timeout", Code: 124,
				Events: waiting + `Google Cloud has no such machine free in us-central1-a (GCE out of resources); the autoscaler tries again"}` + "\n" + `{"event":"error","code":124,"message":"timed out"}`}},
			verdicts: "up passed, doctor passed, l4 no capacity, down passed, left passed", why: "no such machine free"},
		"a job waits, and nobody says why": {only: "l4", code: exitFailed,
			answers:  []fakeAnswer{{Has: "run chips.py:gpus --timeout", Code: 124, Events: waiting + `no node has room"}` + "\n" + `{"event":"error","code":124,"message":"timed out"}`}},
			verdicts: "up passed, doctor passed, l4 failed, down passed, left passed", why: "timed out; last: waiting: no node has room"},
		"no quota for the node pool": {only: "l4",
			answers:  []fakeAnswer{{Has: "pool add", Code: 1, Events: `{"event":"error","message":"the quota NVIDIA_L4_GPUS is exceeded, its limit is 0: …; ask for more at https://…"}`}},
			verdicts: "up passed, doctor passed, l4 no capacity, down passed, left passed", why: "NVIDIA_L4_GPUS"},
		"the region has no such machines": {only: "l4",
			answers:  []fakeAnswer{{Has: "pool add", Code: 2, Events: `{"event":"error","message":"cluster c in us-south1-a has no l4 (g2-standard-4); the nearest zones that have it: us-east5-b; they need a cluster in their region"}`}},
			verdicts: "up passed, doctor passed, l4 skipped, down passed, left passed", why: "they need a cluster in their region"},
		"a zone of the region has them, and nobody took it": {only: "l4", code: exitFailed,
			answers:  []fakeAnswer{{Has: "pool add", Code: 2, Events: `{"event":"error","message":"cluster c in us-central1-a has no l4 (g2-standard-4); the nearest zones that have it: us-central1-b"}`}},
			verdicts: "up passed, doctor passed, l4 failed, down passed, left passed", why: "us-central1-b"},
		"a wrong value": {only: "cpu", code: exitFailed, answers: []fakeAnswer{{Has: "run add.py", Out: "6\n"}},
			verdicts: "up passed, doctor passed, cpu failed, down passed, left passed", why: `returned "6", expected "5"`},
		"another price than before": {only: "l4", code: exitFailed, answers: []fakeAnswer{{Has: "jobs describe", Out: `{"cost": {"pricePerHour": 3, "usd": 0.1}}`}},
			verdicts: "up passed, doctor passed, l4 failed, down passed, left passed", why: "another price"},
		"a step could cost too much": {only: "cpu,l4", max: 1.4,
			verdicts: "up passed, doctor passed, cpu passed, l4 skipped, down passed, left passed", why: "more than --max-cost 1.4"},
		"the cluster is not made": {only: "cpu", code: exitFailed, answers: []fakeAnswer{{Has: "up --yes", Code: 1, Events: `{"event":"error","message":"no billing"}`}},
			verdicts: "up failed, down passed, left passed", why: "no billing"},
		"doctor finds something": {only: "cpu", code: exitFailed, answers: []fakeAnswer{{Has: "doctor", Out: `{"wrong": 2}`}},
			verdicts: "up passed, doctor failed, cpu passed, down passed, left passed", why: "2 things wrong"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tt.only, tt.answers...)
			if tt.max > 0 {
				f.budget.max = tt.max
			}
			var stdout, stderr bytes.Buffer
			code := f.exit(f.run(t.Context(), t.Context()), &stdout, &stderr)
			if code != tt.code || f.verdicts() != tt.verdicts {
				t.Errorf("exit code %d, %s; want %d, %s\n%s%s", code, f.verdicts(), tt.code, tt.verdicts, &f.out, &stderr)
			}
			if !strings.Contains(f.out.String(), tt.why) {
				t.Errorf("%s\nlacks %q", &f.out, tt.why)
			}
			if calls := f.called(t); !slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, "down --delete-data --yes=acceptance-0123") }) {
				t.Errorf("nothing was taken down: %q", calls)
			}
		})
	}
}

// On this machine all steps can run: one that was not tried has found something. In Google Cloud it has not.
func TestWhatCanRunIsTried(t *testing.T) {
	noMachine := fakeAnswer{Has: "run chips.py:gpus --timeout", Code: 124,
		Events: waiting + `Google Cloud has no such machine free in us-central1-a (GCE out of resources); the autoscaler tries again"}` + "\n" + `{"event":"error","code":124,"message":"timed out"}`}
	for name, tt := range map[string]struct {
		complete bool
		max      float64
		answers  []fakeAnswer
		code     int
	}{
		"all were tried":              {complete: true},
		"one was skipped":             {complete: true, max: 1.4, code: exitFailed},
		"one got no machine":          {complete: true, answers: []fakeAnswer{noMachine}, code: exitFailed},
		"one was skipped elsewhere":   {max: 1.4},
		"it got no machine elsewhere": {answers: []fakeAnswer{noMachine}},
	} {
		f := newFixture(t, "cpu,l4", tt.answers...)
		f.complete = tt.complete
		if tt.max > 0 {
			f.budget.max = tt.max
		}
		var stdout, stderr bytes.Buffer
		code := f.exit(f.run(t.Context(), t.Context()), &stdout, &stderr)
		if code != tt.code || strings.Contains(stderr.String(), "steps that were not tried, although all can run here: 1") != (tt.code != 0) {
			t.Errorf("%s: exit code %d: %s", name, code, &stderr)
		}
	}
}

func TestThePoolOfAStepIsRemoved(t *testing.T) {
	f := newFixture(t, "l4", fakeAnswer{Has: "run chips.py:gpus --timeout", Code: 1})
	if err := f.run(t.Context(), t.Context()); err != nil {
		t.Fatal(err)
	}
	calls := f.called(t)
	at := func(begin string) int {
		return slices.IndexFunc(calls, func(call string) bool { return strings.HasPrefix(call, begin) })
	}
	add, cancel, remove := at("pool add l4:spot --yes --name acceptance-l4 --max-nodes 1"), at("jobs cancel --selector owner=acceptance-0123"), at("pool remove acceptance-l4 --yes")
	if add < 0 || cancel < add || remove < cancel {
		t.Errorf("%d, %d, %d in %q", add, cancel, remove, calls)
	}
}

func TestWhatIsInterruptedIsTakenDown(t *testing.T) {
	f := newFixture(t, "cpu,map", fakeAnswer{Has: "run add.py:add", Hangs: true})
	work, cancel := context.WithCancelCause(t.Context())
	go func() {
		for ; work.Err() == nil; <-time.After(10 * time.Millisecond) {
			if text, _ := os.ReadFile(f.calls); strings.Contains(string(text), "run add.py:add") {
				cancel(errInterrupted)
			}
		}
	}()
	var stdout, stderr bytes.Buffer
	if code := f.exit(f.run(work, t.Context()), &stdout, &stderr); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if want := "up passed, doctor passed, cpu skipped, map skipped, down passed, left passed"; f.verdicts() != want {
		t.Errorf("%s, want %s", f.verdicts(), want)
	}
	if !strings.HasSuffix(stdout.String(), "\n4 passed, 0 failed, 2 skipped\n") {
		t.Error(stdout.String())
	}
}

func TestWhatCannotBeTakenDownIsNamedWithItsCommand(t *testing.T) {
	f := newFixture(t, "cpu", fakeAnswer{Has: "down --delete-data --yes", Code: 1})
	var stdout, stderr bytes.Buffer
	code := f.exit(f.run(t.Context(), t.Context()), &stdout, &stderr)
	if want := "type: kubectl kinetic down --delete-data --yes=acceptance-0123 --force --project p --zone us-central1-a --cluster acceptance-0123 --namespace acceptance-0123"; code != exitFailed || !strings.Contains(stderr.String(), want) {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if calls := f.called(t); !slices.Contains(calls, "down --delete-data --yes=acceptance-0123 --force") {
		t.Errorf("it was not forced: %q", calls)
	}
}

func TestWhatIsKeptStays(t *testing.T) {
	f := newFixture(t, "cpu")
	f.keep = true
	if err := f.run(t.Context(), t.Context()); err != nil || f.verdicts() != "up passed, doctor passed, cpu passed" {
		t.Errorf("%s, %v", f.verdicts(), err)
	}
	if !strings.Contains(f.out.String(), "costs money, until you type\n\n  kubectl kinetic down") {
		t.Error(f.out.String())
	}
}

func TestWhatIsLeftFails(t *testing.T) {
	f := newFixture(t, "cpu")
	if err := f.run(t.Context(), t.Context()); err != nil {
		t.Fatal(err)
	}
	f.cloud = leaves{}
	if r := f.row(t.Context(), step{name: "left", limit: time.Minute, run: nothingLeft}); r.verdict != failed || !strings.Contains(r.why, "disk pvc-1") {
		t.Errorf("%+v", r)
	}
}

type leaves struct{ nowhere }

func (leaves) leftovers(context.Context, client, string) ([]string, error) {
	return []string{"disk pvc-1"}, nil
}

func TestARunThatMayNotBeginMakesNothing(t *testing.T) {
	taken := `{"plan": [{"resource": {"kind": "bucket", "name": "p-kn-acceptance-0123-jobs"}, "action": "delete"}]}`
	tests := map[string]struct {
		answer fakeAnswer
		max    float64
		why    string
	}{
		"the name is taken":         {answer: fakeAnswer{Has: "down --dry-run", Out: taken}, why: "project p has a bucket p-kn-acceptance-0123-jobs already"},
		"the cluster costs more":    {max: 0.1, why: "the cluster alone: it could cost $0.45"},
		"the price is not known":    {answer: fakeAnswer{Has: "up --dry-run", Out: `{"listPrice": {"unknown": ["cluster"]}}`}, why: "the price of cluster is not known"},
		"the project is not usable": {answer: fakeAnswer{Has: "down --dry-run", Code: 1, Events: `{"event":"error","message":"project p doesn't exist"}`}, why: "project p doesn't exist"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "", tt.answer)
			if tt.answer.Has == "" {
				f = newFixture(t, "")
			}
			if tt.max > 0 {
				f.budget.max = tt.max
			}
			var stdout, stderr bytes.Buffer
			if code := f.exit(f.run(t.Context(), t.Context()), &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), tt.why) {
				t.Errorf("exit code %d: %s", code, &stderr)
			}
			for _, call := range f.called(t) {
				if !strings.Contains(call, "--dry-run") {
					t.Errorf("it did %s", call)
				}
			}
		})
	}
}

func TestWrongCommandLines(t *testing.T) {
	tests := map[string]struct {
		args []string
		why  string
	}{
		"no project":      {nil, "make acceptance PROJECT=my-project"},
		"no such step":    {[]string{"-project", "p", "-only", "cpu,l5"}, `no step "l5"; there are cpu, outputs,`},
		"no money":        {[]string{"-project", "p", "-max-cost", "0"}, "expected more than 0"},
		"an argument":     {[]string{"-project", "p", "cpu"}, `unexpected argument "cpu"`},
		"local elsewhere": {[]string{"-project", "p", "-local"}, "make acceptance-local"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("STORAGE_EMULATOR_HOST", "")
			var stdout, stderr bytes.Buffer
			args := append([]string{"-dir", t.TempDir()}, tt.args...)
			if code := run(args, &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), tt.why) {
				t.Errorf("exit code %d: %s", code, &stderr)
			}
		})
	}
}

func TestShortagesAreTheWordsOfKinetic(t *testing.T) {
	for _, s := range slices.Concat(shortages, elsewhere) {
		text, err := os.ReadFile(filepath.Join("../..", s.file))
		if err != nil || !bytes.Contains(text, []byte(s.words)) {
			t.Errorf("%s lacks %q: %v", s.file, s.words, err)
		}
	}
	if why := said(errors.New(shortages[0].words), shortages); why != "" {
		t.Errorf("an error of ours is a shortage: %s", why)
	}
}

func TestCommandsGetNothingOfTheUser(t *testing.T) {
	env := environment([]string{"HOME=/h", "KINETIC_STORE=gs://mine", "KINETIC_IMAGE=python:3.12", "KUBECONFIG=/mine"}, "/run", place{"p", "z", "c"}, false)
	got := strings.Join(env, " ")
	if strings.Contains(got, "gs://mine") || strings.Contains(got, "python:3.12") {
		t.Error(got)
	}
	if !strings.HasSuffix(got, "KUBECONFIG=/run/kubeconfig KINETIC_PROFILES_FILE=/run/profiles.json KINETIC_PROJECT=p KINETIC_ZONE=z KINETIC_CLUSTER=c KINETIC_NAMESPACE=c") {
		t.Error(got) // the last of two variables counts
	}
}

func TestTheBudgetCountsTheTimeUntilTheEnd(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	b := budget{max: 10, cluster: 1, began: now.Add(-2 * time.Hour), steps: 3}
	if b.spent(now) != 5 {
		t.Errorf("spent %v, want 5", b.spent(now))
	}
	if why := b.refuse(now, 1, 2*time.Hour); why != "" { // 4 more, and 0.75 to take it down
		t.Error(why)
	}
	if why := b.refuse(now, 1.2, 2*time.Hour); !strings.Contains(why, "it could cost $5.15, after $5.00 so far") {
		t.Error(why)
	}
}

func TestTheReport(t *testing.T) {
	r := report{where: "local servers", client: "v1.2.3", kubernetes: "v1.34.1"}
	r.begin(time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), "us-central1-a")
	r.add(row{name: "up", what: "a cluster", verdict: passed, took: 90 * time.Second}, 0.1)
	r.add(row{name: "l4", what: "a spot L4", verdict: noCapacity, why: "no a|b free\nnow", took: time.Second, usd: 0.014, unproven: "no driver"}, 0.3)
	got := r.markdown()
	for _, want := range []string{
		"# Acceptance, 2026-11-24\n\n**1 passed, 0 failed, 1 skipped**\n",
		"| where | local servers |\n| zone | us-central1-a |\n| begun | 2026-11-24 12:00 UTC |\n",
		"| cost | at most $0.30 at list prices, with the cluster |\n",
		"| up | a cluster | passed | 1m30s | - |\n| l4 | a spot L4 | no capacity | 1s | $0.01 |\n",
		"## What did not pass\n\n- **l4**: no a|b free now\n\n## What was not proven here\n\n- **l4**: no driver\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks\n%s", got, want)
		}
	}
}
