package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// recipe is what a component of docs/recipes.md is for.
type recipe struct {
	specs []string // of family
	want  []string // in what they render to
}

// recipes are the sections of the page by their headings.
var recipes = map[string]recipe{
	"Delete the Job some time after its end": {
		[]string{"cpu", "l4", "cpu-map"},
		[]string{"  ttlSecondsAfterFinished: 86400\n"},
	},
	"Mount a PersistentVolumeClaim": {
		[]string{"cpu", "v6e-8", "l4-spot", "cpu-map", "indexed-cpu-4hosts"},
		[]string{"claimName: datasets\n", "mountPath: /mnt/datasets\n"},
	},
	"Mount a bucket as a directory": {
		[]string{"cpu", "l4"},
		[]string{"bucketName: my-datasets\n", `gke-gcsfuse/volumes: "true"` + "\n"},
	},
	"Run as a certain user": {
		[]string{"cpu-restricted", "l4-restricted"},
		[]string{"runAsUser: 1000\n", "runAsGroup: 1000\n", "fsGroup: 1000\n"},
	},
	"Choose nodes by a label": {
		[]string{"l4", "v6e-8", "cpu-spot"},
		[]string{"        example.com/team: vision\n", "        cloud.google.com/gke-"},
	},
	"Choose nodes by a label, without an accelerator": {
		[]string{"cpu", "cpu-map"},
		[]string{"        cloud.google.com/gke-nodepool: big-memory\n"},
	},
	"Tolerate a taint": {
		[]string{"l4", "v6e-8-spot", "cpu-spot"},
		[]string{"        key: example.com/team\n"},
	},
	"Tolerate a taint, without an accelerator": {
		[]string{"cpu"},
		[]string{"        key: example.com/team\n"},
	},
	"Set variables for the whole team": {
		[]string{"cpu", "l4"},
		[]string{"            name: team-settings-", "            name: team-tokens\n", "  WANDB_PROJECT: churn\n"},
	},
	"Pull from a private registry": {
		[]string{"cpu", "l4"},
		[]string{"      - name: registry-login\n"},
	},
	"Several hosts": {
		[]string{"lws-cpu-4hosts", "lws-v6e-16-slices"},
		[]string{"claimName: datasets\n", "mountPath: /mnt/datasets\n"},
	},
}

// TestRecipes renders every component of docs/recipes.md.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")[1:]
	if len(sections) != len(recipes) {
		t.Errorf("the page has %d recipes, and %d are tested", len(sections), len(recipes))
	}
	for _, section := range sections {
		heading, text, _ := strings.Cut(section, "\n")
		t.Run(heading, func(t *testing.T) {
			r, known := recipes[heading]
			if !known {
				t.Fatal("the recipe is not tested")
			}
			_, block, found := strings.Cut(text, "```yaml\n")
			block, rest, closed := strings.Cut(block, "```\n")
			if !found || !closed || strings.Contains(rest, "```") {
				t.Fatal("want one block of YAML in the section")
			}
			o := mustOverlay(t, map[string]string{"kustomization.yaml": block})
			for _, name := range r.specs {
				checkRecipe(t, name, o, r.want)
			}
		})
	}
}

func checkRecipe(t *testing.T, name string, o Overlay, want []string) {
	t.Helper()
	spec, ok := family[name]
	if !ok {
		t.Fatalf("there is no spec %s", name)
	}
	rendered, _, err := render(spec, o, testRunner, false)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	text := string(rendered.YAML())
	for _, line := range want {
		n := 1
		if spec.Backend == api.BackendLWS {
			n = 2 // the leader's template and that of the others
		}
		if strings.Count(text, line) < n {
			t.Errorf("%s: want %q %d times in\n%s", name, line, n, text)
		}
	}
}
