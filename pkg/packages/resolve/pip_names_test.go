package resolve_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// TestPipReadsNamesOfURLs: a local version is escaped in a URL, and a signature is no part of a file's name, nor of a message.
func TestPipReadsNamesOfURLs(t *testing.T) {
	t.Parallel()
	r, target := pip(t)
	const plain, local, own, other = "a-1-py3-none-any.whl", "b-2.9.0+cpu-py3-none-any.whl", "c-1+x-py3-none-any.whl", "d-1+x-py3-none-any.whl"
	s := newServer(t, map[string][]byte{plain: wheelOf(t, plain), local: wheelOf(t, local), other: wheelOf(t, other)})
	signed := "a @ " + s.URL + "/files/" + plain + "?X-Goog-Signature=" + secret
	w := project(t, map[string]string{"own/" + own: string(wheelOf(t, own)), "requirements.txt": strings.Join([]string{
		"--index-url " + s.URL + "/simple", "b", "./own/" + own, signed,
		s.URL + "/files/" + strings.Replace(other, "+", "%2B", 1) + " --hash=sha256:" + sum(s.files[other]),
	}, "\n")})
	w.Target = target
	env, err := r.Resolve(t.Context(), w)
	if diff := cmp.Diff([]string{"a==1 " + plain, "b==2.9.0+cpu " + local, "c==1+x " + own, "d==1+x " + other}, described(env.Packages)); err != nil || diff != "" {
		t.Errorf("got %v\n%s", err, diff)
	}
	w = requirements(t, signed+" --hash=sha256:"+strings.Repeat("a", 64))
	w.Target = target
	if _, err := r.Resolve(t.Context(), w); !is[*resolve.MistakeError](err) || strings.Contains(err.Error(), secret) {
		t.Errorf("another hash: %v", err)
	}
}
