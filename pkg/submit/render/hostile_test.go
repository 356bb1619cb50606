package render

import (
	"bytes"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// expand is what a kubelet does to arguments and variables: $(NAME) becomes the
// value of a variable that is set, $$ becomes $, all else stays.
// https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
func expand(s string, set map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		end := strings.IndexByte(s[i:], ')')
		switch {
		case s[i] == '$':
			out.WriteByte('$')
		case s[i] == '(' && end > 0:
			name := s[i+1 : i+end]
			if value, ok := set[name]; ok {
				out.WriteString(value)
			} else {
				out.WriteString("$(" + name + ")")
			}
			i += end
		default:
			out.WriteByte('$')
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

var hostile = []string{
	"", " ", "\n", "\n\n", "a\nb", "a\nb\n", " indented\n  more\n", "\ttab", "a\n\ttab\n", "\r\n", "trailing ", "trailing \nspace \n",
	"'", `"`, `\`, `\n`, "#", "a #b", "a: b", "- a", "? a", "{a: b}", "[a]", "&a", "*a", "!a", "|", ">", "%", "@", "`", "---", "...", "--- a\n...\n",
	"yes", "no", "on", "off", "y", "n", "true", "null", "~", "NaN", ".inf", "1", "1e3", "0x1f", "0o17", "017", "1_000", "1:30", "2026-04-17", "=", "<<",
	"$", "$$", "$$$", "$(X)", "$$(X)", "$$$(X)", "$(X", "$(", "$()", "a$b", "${X}", "$(date)", "$(KERAS_BACKEND)", "$(KINETIC_POD_UID)$",
	"é", "日本語", "😀", "\u2028", "\u00a0", "\ufeff", "\u0001", "\u001b[31m", "\ufffd", "\U0010ffff",
	"{{ template }}", "9007199254740993", "1e400", "-0", strings.Repeat("long ", 5000), strings.Repeat("x", 100_000),
}

// carried renders text in each place that takes any, and returns how a kubelet
// would see it. It compares what patchedJob makes of it with what kustomize does.
func carried(t *testing.T, text string) map[string]string {
	t.Helper()
	s := testSpec(cpu, func(s *api.Spec) {
		s.Name = text
		s.OutputDir = text
		s.Env = []api.EnvVar{{Name: "X", Value: "expanded"}, {Name: "TEXT", Value: text}, {Name: "KERAS_BACKEND", Value: text}}
		s.Annotations = map[string]string{"example.com/text": text}
	})
	r := mustRender(t, s)
	if built, _, err := render(s, Overlay{}, testRunner, true); err != nil || !bytes.Equal(built.YAML(), r.YAML()) {
		t.Errorf("%.40q: kustomize builds something else, or nothing: %v", text, err)
	}
	first, _, ok := strings.Cut(string(r.YAML()), "\n---\n")
	if !ok {
		t.Fatal("the stream has no second document")
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict([]byte(first), &job); err != nil {
		t.Fatal(err)
	}
	set := map[string]string{"X": "expanded", "KINETIC_POD_UID": "expanded", "KERAS_BACKEND": "expanded", "date": "expanded", "": "expanded"}
	c := worker(job.Spec.Template.Spec)
	got := map[string]string{
		"function":       job.Annotations[api.AnnotationFunction],
		"annotation":     job.Annotations["example.com/text"],
		"pod annotation": job.Spec.Template.Annotations["example.com/text"],
	}
	for _, e := range c.Env {
		if e.Name == "TEXT" || e.Name == "KERAS_BACKEND" {
			got["env "+e.Name] = expand(e.Value, set)
		}
	}
	for i, arg := range c.Args {
		if arg == "--output-dir" {
			got["output dir"] = expand(c.Args[i+1], set)
		}
	}
	return got
}

func TestTextTravelsUntouched(t *testing.T) {
	for _, text := range hostile {
		want := 5
		if text != "" {
			want++ // no --output-dir without a value
		}
		got := carried(t, text)
		if len(got) != want {
			t.Errorf("%.40q: found in %d places, want %d: %q", text, len(got), want, got)
		}
		for place, value := range got {
			if value != text {
				t.Errorf("%s: got %.80q, want %.80q", place, value, text)
			}
		}
	}
}

func FuzzTextTravelsUntouched(f *testing.F) {
	for _, text := range []string{"plain", "$(X) $$ ${X}", "a\n b\n\tc ", "'\"\\#: -", "1e3", "é\u2028\x1b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkText(text) != nil {
			t.Skip("rejected before")
		}
		for place, value := range carried(t, text) {
			if value != text {
				t.Errorf("%s: got %q, want %q", place, value, text)
			}
		}
	})
}
