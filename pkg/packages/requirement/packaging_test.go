package requirement

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// questions is how many random questions are asked.
const questions = 4000

var update = flag.Bool("update", false, "ask Python's packaging, which pip has, again")

// ask returns what Python's packaging answered to questions, one character each: t for true, f for
// false, e for an error, and <, = or > for an order.
func ask(t *testing.T, file string, questions [][]any) string {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, askPackaging(t, questions), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	answers, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%s has %d answers to %d questions: run go test -update", file, len(answers), len(questions))
	}
	return string(answers)
}

func askPackaging(t *testing.T, questions [][]any) []byte {
	t.Helper()
	var in bytes.Buffer
	for _, q := range questions {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command("python3", "testdata/packaging.py")
	cmd.Stdin, cmd.Stderr = &in, t.Output()
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// compareAnswers compares our answers with those of packaging.
func compareAnswers(t *testing.T, file string, questions [][]any, ours []byte) {
	t.Helper()
	theirs := ask(t, file, questions)
	for i := range questions {
		if theirs[i] != ours[i] {
			t.Errorf("%v: got %c, packaging has %c", questions[i], ours[i], theirs[i])
		}
	}
	if n := strings.Count(theirs, "e"); n > len(questions)/2 {
		t.Errorf("%d of %d questions are errors", n, len(questions))
	}
}

// answer returns the character for a truth value, or for an error.
func answer(holds bool, err error) byte {
	switch {
	case err != nil:
		return 'e'
	case holds:
		return 't'
	}
	return 'f'
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
	var ours []byte
	for range questions {
		text := randomMarker(r, 0)
		m, err := ParseMarker(text)
		holds := false
		if err == nil {
			holds, err = m.Holds(env)
		}
		asked, ours = append(asked, []any{"marker", text, theirs}), append(ours, answer(holds, err))
	}
	compareAnswers(t, "testdata/markers.golden", asked, ours)
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
	var ours []byte
	for range questions {
		a, b := randomVersion(r), randomVersion(r)
		v, err := ParseVersion(a)
		w, err2 := ParseVersion(b)
		order := byte('e')
		if err == nil && err2 == nil {
			order = "<=>"[1+max(-1, min(1, v.Compare(w)))]
		}
		asked, ours = append(asked, []any{"order", a, b}), append(ours, order)
		spec := pick(r, "==", "!=", "<", "<=", ">", ">=", "~=", "===") + pick(r, b, b+".*")
		specifiers, specErr := ParseSpecifiers(spec)
		asked, ours = append(asked, []any{"contains", spec, a}), append(ours, answer(specifiers.Contain(v), errors.Join(err, specErr)))
	}
	compareAnswers(t, "testdata/versions.golden", asked, ours)
}

func randomVersion(r *rand.Rand) string {
	parts := []string{pick(r, "", "", "1!"), pick(r, "1", "1.0", "1.0.0", "1.1", "1.10", "1.2", "2", "0.9", "1.0.1")}
	parts = append(parts, pick(r, "", "", "a1", "b2", "rc1", "-alpha", ".c3"), pick(r, "", "", ".post1", "-2", "rev3", ".post"))
	return strings.Join(append(parts, pick(r, "", "", ".dev1", "dev"), pick(r, "", "", "", "+1", "+local.2", "+local-10", "+abc")), "")
}
