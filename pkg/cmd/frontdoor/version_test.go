package frontdoor

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// versions runs version with a sibling that answers so, and returns what it was asked.
func versions(t *testing.T, a Answer, err error, args ...string) (got outcome, asked []string) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	writeProgram(t, filepath.Join(folder, "kubectl-kinetic_jobs"), 0o755)
	var stdout, stderr bytes.Buffer
	p := Process{
		Args: append([]string{"kubectl-kinetic", "version"}, args...), Executable: filepath.Join(folder, "kubectl-kinetic"), Stdout: &stdout, Stderr: &stderr,
		Output: func(path string, args []string) (Answer, error) {
			asked = append([]string{strings.TrimPrefix(path, folder+"/")}, args...)
			return a, err
		},
	}
	code := p.Run()
	return outcome{Code: code, Stdout: strings.ReplaceAll(stdout.String(), folder, "FOLDER"), Stderr: stderr.String()}, asked
}

var thisLine = product + " " + thisClient().line() + "\n"

func TestVersionAsText(t *testing.T) {
	got, asked := versions(t, Answer{Stdout: "server  v1.36.3\n"}, nil, "--context", "c", "-n=ml")
	if diff := cmp.Diff(outcome{Stdout: thisLine + "server  v1.36.3\n"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kubectl-kinetic_jobs", "version", "--front-door=" + version.String(), "--context", "c", "-n=ml"}, asked); diff != "" {
		t.Errorf("the sibling's command line (-want +got):\n%s", diff)
	}
}

func TestVersionOfTheClient(t *testing.T) {
	for _, args := range [][]string{{"--client"}, {"--client=true"}} {
		got, asked := versions(t, Answer{Stdout: "server  v1.36.3\n"}, nil, args...)
		if diff := cmp.Diff(outcome{Stdout: thisLine}, got); diff != "" || asked != nil {
			t.Errorf("%v: asked %q (-want +got):\n%s", args, asked, diff)
		}
	}
	if _, asked := versions(t, Answer{}, nil, "--client=false"); asked == nil {
		t.Error("--client=false did not ask the cluster")
	}
}

func TestVersionLine(t *testing.T) {
	const commit = "7fd66dd8a1b2c3d4e5f60718293a4b5c6d7e8f90"
	for want, c := range map[string]clientVersion{
		"v0.1.0 (commit 7fd66dd8a1b2, linux/amd64, go1.26)":                                                  {Version: "v0.1.0", Commit: commit},
		"v0.1.0-5-g7fd66dd-dirty (development build, commit 7fd66dd8a1b2 with changes, linux/amd64, go1.26)": {Version: "v0.1.0-5-g7fd66dd-dirty", Commit: commit, Modified: true, Development: true},
		"v0.1.0 (linux/amd64, go1.26)":                                                                       {Version: "v0.1.0"},
		"devel (development build, linux/amd64, go1.26)":                                                     {Version: "devel", Development: true},
	} {
		c.GoVersion, c.Platform = "go1.26", "linux/amd64"
		if got := c.line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestVersionForPrograms(t *testing.T) {
	want := map[string]any{
		"client":  map[string]any{"version": version.String(), "development": true, "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH},
		"cluster": map[string]any{"serverVersion": map[string]any{"gitVersion": "v1.36.3"}},
	}
	for name, value := range map[string]string{"commit": thisClient().Commit, "commitTime": thisClient().CommitTime} {
		if value != "" {
			want["client"].(map[string]any)[name] = value
		}
	}
	if thisClient().Modified {
		want["client"].(map[string]any)["modified"] = true
	}
	said := map[string]string{"json": `{"serverVersion":{"gitVersion":"v1.36.3"}}` + "\n", "yaml": "serverVersion:\n  gitVersion: v1.36.3\n"}
	for _, args := range []string{"-o json", "-o=json", "-ojson", "--output json", "--output=json", "-o yaml", "--output=yaml"} {
		t.Run(args, func(t *testing.T) {
			format := args[len(args)-4:]
			got, asked := versions(t, Answer{Stdout: said[format]}, nil, strings.Fields(args)...)
			if got.Code != 0 || got.Stderr != "" || asked[len(asked)-1] != "--output="+format {
				t.Fatalf("asked %q, got %+v", asked, got)
			}
			if diff := cmp.Diff(want, decode(t, format, got.Stdout)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			alone, _ := versions(t, Answer{}, nil, append(strings.Fields(args), "--client")...)
			if diff := cmp.Diff(map[string]any{"client": want["client"]}, decode(t, format, alone.Stdout)); diff != "" {
				t.Errorf("--client (-want +got):\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, format, text string) map[string]any {
	t.Helper()
	read := json.Unmarshal
	if format == "yaml" {
		read = func(data []byte, into any) error { return yaml.UnmarshalStrict(data, into) }
	}
	var got map[string]any
	if err := read([]byte(text), &got); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return got
}

func TestVersionWithoutTheSibling(t *testing.T) {
	missing := "kubectl-kinetic_jobs is missing: it is neither in FOLDER nor on PATH; " + fix
	folder := t.TempDir()
	t.Setenv("PATH", t.TempDir())
	got := answerIn(folder, "kubectl-kinetic", "version")
	if want := thisLine + "cluster   " + missing + "\n"; got.Code != 0 || strings.ReplaceAll(got.Stdout, folder, "FOLDER") != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	for _, format := range []string{"json", "yaml"} {
		got := answerIn(folder, "kubectl-kinetic", "version", "-o", format)
		cluster := decode(t, format, strings.ReplaceAll(got.Stdout, folder, "FOLDER"))["cluster"]
		if diff := cmp.Diff(map[string]any{"error": missing}, cluster); diff != "" || got.Code != 0 {
			t.Errorf("exit code %d (-want +got):\n%s", got.Code, diff)
		}
	}
}

func TestVersionWithASiblingThatFails(t *testing.T) {
	tests := map[string]struct {
		answer Answer
		err    error
		want   outcome
	}{
		"older": {Answer{Stderr: `error: unknown command "version" for "kubectl kinetic jobs"`, Code: 2}, nil,
			outcome{Stdout: thisLine + "cluster   FOLDER/kubectl-kinetic_jobs is an older version without this command; " + fix + "\n"}},
		"not a program": {Answer{}, errors.New("exec format error"),
			outcome{Stdout: thisLine + "cluster   starting FOLDER/kubectl-kinetic_jobs: exec format error; " + fix + "\n"}},
		"of another version": {Answer{Stdout: "server  v1\n", Stderr: "warning: another version\n"}, nil,
			outcome{Stdout: thisLine + "server  v1\n", Stderr: "warning: another version\n"}},
		"a flag that it does not know": {Answer{Stderr: "error: unknown flag: --contxt\n", Code: 2}, nil,
			outcome{Code: 2, Stderr: "error: unknown flag: --contxt\n"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, asked := versions(t, tt.answer, tt.err, "--contxt=c")
			if asked == nil {
				t.Error("the sibling was not asked")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnCommandsHaveHelp(t *testing.T) {
	tests := map[string][]string{
		"version [--client] [-o json|yaml] [flags of kubectl, such as --context]": {"version", "--help"},
		"help [COMMAND]": {"help", "help"},
		"completion [install [--dir DIR] [--dry-run]]": {"help", "completion"},
	}
	for usage, args := range tests {
		t.Run(usage, func(t *testing.T) {
			got := answer(t, append([]string{"kubectl-kinetic"}, args...)...)
			if got.Code != 0 || !strings.Contains(got.Stdout, "\n\nUsage:\n  kubectl kinetic "+usage+"\n") {
				t.Errorf("got %+v", got)
			}
		})
	}
}
