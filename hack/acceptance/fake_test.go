package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeAnswer is what the kubectl-kinetic of a test does for commands that contain some words.
type fakeAnswer struct {
	Has    string // words of the command, in its order
	Out    string
	Events string
	Code   int
	Hangs  bool // until it is interrupted
}

// usual are the answers for a run in which all goes well. Those of a test stand before them.
var usual = []fakeAnswer{
	{Has: "down --dry-run", Out: `{"plan": [{"resource": {"kind": "APIs of project", "name": "p"}, "action": "stays"}, {"resource": {"kind": "cluster", "name": "c"}, "action": "absent"}]}`},
	{Has: "up --dry-run", Out: `{"listPrice": {"perMonth": 73}}`},
	{Has: "version", Out: `{"client": {"version": "v1.2.3"}, "cluster": {"serverVersion": {"gitVersion": "v1.34.1"}}}`},
	{Has: "doctor", Out: `{"wrong": 0}`},
	{Has: "run --explain", Out: `{"accelerator": {"pricePerHour": 2}}`},
	{Has: "run add.py:add", Out: "5\n", Events: `{"event":"log","line":"adding 2 and 3"}`},
	{Has: "run chips.py", Out: "[1,1]\n", Events: `{"event":"submitted","job":{"job_id":"l4-1"}}`},
	{Has: "jobs describe", Out: `{"cost": {"pricePerHour": 2, "usd": 0.1}}`},
}

const (
	answersVariable = "FAKE_ANSWERS"
	callsVariable   = "FAKE_CALLS"
)

// TestMain makes this program the kubectl-kinetic and the kubectl of its tests, too.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl") {
		os.Exit(answerAsKinetic(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func answerAsKinetic(args []string) int {
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	command := strings.Join(args, " ")
	var answers []fakeAnswer
	if err := json.Unmarshal([]byte(os.Getenv(answersVariable)), &answers); err != nil {
		panic(err)
	}
	calls, err := os.OpenFile(os.Getenv(callsVariable), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(calls, strings.ReplaceAll(command, " --events json", ""))
	for _, a := range answers {
		if !inOrder(command, strings.Fields(a.Has)) {
			continue
		}
		if a.Hangs {
			<-interrupted.Done()
			return exitInterrupted
		}
		fmt.Print(a.Out)
		fmt.Fprintln(os.Stderr, a.Events)
		return a.Code
	}
	return 0
}

// inOrder reports whether a command has words, in their order.
func inOrder(command string, words []string) bool {
	for _, word := range words {
		_, rest, found := strings.Cut(command, word)
		if !found {
			return false
		}
		command = rest
	}
	return true
}

// nowhere is a cloud in which there is nothing.
type nowhere struct{}

func (nowhere) check(context.Context, client) error                         { return nil }
func (nowhere) lacks(step) string                                           { return "" }
func (nowhere) flags(step) []string                                         { return nil }
func (nowhere) call(s step) (target, value string)                          { return "chips.py:" + s.counts, "[1,1]" }
func (nowhere) packages() string                                            { return "" }
func (nowhere) deleteMachine(context.Context, client, string, string) error { return nil }
func (nowhere) cleanUp(context.Context, client, []string) error             { return nil }
func (nowhere) leftovers(context.Context, client, string) ([]string, error) { return nil, nil }
func (nowhere) unproven(string) string                                      { return "" }

// fixture is a run against such a program.
type fixture struct {
	*suite
	out   bytes.Buffer
	calls string // file
}

func newFixture(t *testing.T, only string, answers ...fakeAnswer) *fixture {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{"kubectl-kinetic", "kubectl"} {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	steps, err := choose(only)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	f := &fixture{calls: filepath.Join(t.TempDir(), "calls")}
	t.Setenv(callsVariable, f.calls)
	p := place{"p", "us-central1-a", "acceptance-0123"}
	status := fmt.Sprintf(`{"state": "RUNNING", "perHour": {"usd": 0.1}, "cost": {"byPerson": [{"person": %q, "jobs": 1}]}}`, p.cluster)
	text, err := json.Marshal(append(append(answers, usual...), fakeAnswer{Has: "status", Out: status}))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(answersVariable, string(text))
	dir := t.TempDir()
	f.suite = &suite{place: p, steps: steps, cloud: nowhere{}, dir: dir, budget: budget{max: 20}, now: time.Now, pause: time.Millisecond, out: &f.out,
		client: client{env: environment(os.Environ(), dir, p, false), dir: dir, log: &bytes.Buffer{}}}
	return f
}

// called returns the commands so far.
func (f *fixture) called(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(f.calls)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// verdicts returns how the steps have ended, in their order.
func (f *fixture) verdicts() string {
	var all []string
	for _, r := range f.report.rows {
		all = append(all, r.name+" "+string(r.verdict))
	}
	return strings.Join(all, ", ")
}
