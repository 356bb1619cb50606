package pack_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

func TestSecretWarning(t *testing.T) {
	for name, secret := range map[string]bool{
		".env": true, "a/.env.local": true, "a.pem": true, "b/id_rsa": true, "id_rsa.pub": true, "x/id_ed25519": true,
		"server.key": true, "credentials.json": true, ".netrc": true, ".aws/config": true, "home/.ssh/known_hosts": true,
		".npmrc": true, "kaggle.json": true, "service-account-prod.json": true, ".kube/config": true,
		"env.py": false, "environment.yml": false, "pem.py": false, "keys.py": false, "my.env": false, "aws/x": false,
		"credentials.py": false, "tokenizer.json": false, ".aws": false,
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFiles(t, root, name)
			want := []string(nil)
			if secret {
				want = []string{"these files look like credentials and will be uploaded: " + name + "; exclude them in .kineticignore if the job doesn't need them"}
			}
			if diff := cmp.Diff(want, planProject(t, root, pack.PlanOptions{}).Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManySecretsAreOneWarning(t *testing.T) {
	root := t.TempDir()
	for i := range 23 {
		writeFiles(t, root, fmt.Sprintf("%02d.pem", i))
	}
	got := planProject(t, root, pack.PlanOptions{}).Warnings
	if len(got) != 1 || !strings.Contains(got[0], ": 00.pem, 01.pem, ") || !strings.Contains(got[0], "19.pem and 3 more;") {
		t.Errorf("warnings %q, want one with 20 names in order and the number of the others", got)
	}
}

func TestSizeWarning(t *testing.T) {
	root := t.TempDir()
	for i, size := range []int{3 << 20, 1 << 20, 2 << 20, 10, 20, 30, 40} {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%d", i)), bytes.Repeat([]byte{byte(i)}, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored := planProject(t, root, pack.PlanOptions{}).StoredBytes
	for limit, warns := range map[int64]bool{0: false, -1: false, stored: false, stored - 1: true, 1 << 20: true} {
		got := planProject(t, root, pack.PlanOptions{SizeWarnBytes: limit}).Warnings
		if len(got) > 0 != warns {
			t.Errorf("limit %d of %d: warnings %q, want any: %v", limit, stored, got, warns)
		}
		if limit == 1<<20 && warns {
			want := "the package takes 6.0 MiB in the store, more than 1.0 MiB; largest files: f0 (3.0 MiB), f2 (2.0 MiB), f1 (1.0 MiB); exclude"
			if len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("warnings %q, want %q", got, want)
			}
		}
	}
}

func TestWarningsOfTheLayoutComeFirst(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, "x.pem", "gone -> nowhere")
	p, err := pack.PlanProject(t.Context(), pack.Layout{SourceTree: api.SourceTree{Root: root}, Warnings: []string{"first"}}, pack.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Warnings) != 3 || p.Warnings[0] != "first" || !strings.Contains(p.Warnings[1], "broken symlink") {
		t.Errorf("warnings %q, want those of the layout, the walk and the names", p.Warnings)
	}
}
