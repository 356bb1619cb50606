package requirement

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// questions is how many random questions are asked.
const questions = 4000

// ask answers questions with Python's packaging, which pip has.
func ask(t *testing.T, questions [][]any) []any {
	t.Helper()
	if err := exec.Command("python3", "-c", "import pip._vendor.packaging").Run(); err != nil {
		t.Skip("python3 has no pip to compare with")
	}
	var in, out bytes.Buffer
	for _, q := range questions {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command("python3", "testdata/packaging.py")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, t.Output()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var answers []any
	for s := bufio.NewScanner(&out); s.Scan(); {
		var a any
		if err := json.Unmarshal(s.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(questions) {
		t.Fatalf("got %d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

// compareAnswers compares our answers with those of packaging.
func compareAnswers(t *testing.T, questions [][]any, ours []any) {
	t.Helper()
	errors := 0
	for i, theirs := range ask(t, questions) {
		if theirs == "error" {
			errors++
		}
		if theirs != ours[i] {
			t.Errorf("%v: got %v, packaging has %v", questions[i], ours[i], theirs)
		}
	}
	if errors > len(questions)/2 {
		t.Errorf("%d of %d questions are errors", errors, len(questions))
	}
}

var someVersions = []string{"3", "3.8", "3.9", "3.10", "3.11", "3.12", "3.11.0", "3.11.7", "3.11.8", "3.11.7.dev0", "3.11.7rc1", "3.11.7.post1",
	"3.11.*", "3.*", "3.1.*", "2.7", "4", "3.11.7+x", "1!3.11", "3.11.7a1", "3.11.6.dev3", "3.12.0rc2", "3.11.7a1.post2.dev3", "3.11.7+x.2", "3.11.7+x.10"}

// pick returns one of several texts.
func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

func TestMarkersAsPackagingReadsThem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	env := Environment{Python: "3.11", FullPython: "3.11.7", Machine: "x86_64"}
	theirs := map[string]string{}
	for name, value := range variables {
		theirs[name] = value(env)
	}
	theirs["extra"] = ""
	var asked [][]any
	var ours []any
	for range questions {
		text := randomMarker(r, 0)
		var answer any = "error"
		m, err := ParseMarker(text)
		if err == nil {
			if holds, err := m.Holds(env); err == nil {
				answer = holds
			}
		}
		asked, ours = append(asked, []any{"marker", text, theirs}), append(ours, answer)
	}
	compareAnswers(t, asked, ours)
}

func randomMarker(r *rand.Rand, depth int) string {
	switch n := r.IntN(10); {
	case depth > 3 || n < 5:
		return randomComparison(r)
	case n < 7:
		return "(" + randomMarker(r, depth+1) + ")"
	default:
		return randomMarker(r, depth+1) + pick(r, " and ", " or ") + randomMarker(r, depth+1)
	}
}

func randomComparison(r *rand.Rand) string {
	version := pick(r, "python_version", "python_full_version", "implementation_version")
	switch n := r.IntN(20); {
	case n < 9:
		return fmt.Sprintf("%s %s '%s'", version, pick(r, "==", "!=", "<", "<=", ">", ">=", "~=", "==="), pick(r, someVersions...))
	case n < 10:
		return fmt.Sprintf("'%s' %s %s", pick(r, "3.9", "3.11", "3.11.7", "4"), pick(r, "<=", ">=", "==", "<", ">"), version)
	case n < 12:
		return fmt.Sprintf("python_version %s '%s'", pick(r, "in", "not in"), pick(r, "2.7, 3.11", "3.8 3.9", "3.10", "3.11"))
	case n < 14:
		return fmt.Sprintf("extra %s '%s'", pick(r, "==", "!="), pick(r, "gpu", "TPU", "a_b"))
	case n < 15:
		return fmt.Sprintf("'%s' in sys_platform", pick(r, "linux", "lin", "win"))
	case n < 18:
		return fmt.Sprintf("%s %s %q", pick(r, "os_name", "os.name", "sys_platform", "platform_system"), pick(r, "==", "!="), pick(r, "posix", "nt", "linux", "Linux", "win32"))
	default:
		return fmt.Sprintf("%s%s%q", pick(r, "platform_machine", "implementation_name", "platform_python_implementation", "python_implementation"), pick(r, "==", "!="), pick(r, "x86_64", "aarch64", "cpython", "CPython"))
	}
}

func TestVersionsAsPackagingOrdersThem(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var asked [][]any
	var ours []any
	for range questions {
		a, b := randomVersion(r), randomVersion(r)
		v, err := ParseVersion(a)
		w, err2 := ParseVersion(b)
		var answer any = "error"
		if err == nil && err2 == nil {
			answer = float64(max(-1, min(1, v.Compare(w))))
		}
		asked, ours = append(asked, []any{"order", a, b}), append(ours, answer)
		spec := pick(r, "==", "!=", "<", "<=", ">", ">=", "~=", "===") + pick(r, b, b+".*")
		answer = "error"
		if specifiers, specErr := ParseSpecifiers(spec); specErr == nil && err == nil {
			answer = specifiers.Contain(v)
		}
		asked, ours = append(asked, []any{"contains", spec, a}), append(ours, answer)
	}
	compareAnswers(t, asked, ours)
}

func randomVersion(r *rand.Rand) string {
	parts := []string{pick(r, "", "", "1!"), pick(r, "1", "1.0", "1.0.0", "1.1", "1.10", "1.2", "2", "0.9", "1.0.1")}
	parts = append(parts, pick(r, "", "", "a1", "b2", "rc1", "-alpha", ".c3"), pick(r, "", "", ".post1", "-2", "rev3", ".post"))
	return strings.Join(append(parts, pick(r, "", "", ".dev1", "dev"), pick(r, "", "", "", "+1", "+local.2", "+local-10", "+abc")), "")
}
