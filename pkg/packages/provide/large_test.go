package provide_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// TestLargeInCloudBuild: a package above the threshold gets a layer of its own, the largest lowest, and
// the other packages share one above them, also if only the server that has the files tells their sizes.
func TestLargeInCloudBuild(t *testing.T) {
	for name, sizeless := range map[string]bool{"the index tells sizes": false, "its server does": true} {
		t.Run(name, func(t *testing.T) {
			w := newCloudWorld(t, cloudbuildtest.Pushes)
			w.sizeless = sizeless
			w.stated = map[string]int{
				"limit-1.0-py3-none-any.whl": wheel.Large, "cudnn-1.0-py3-none-any.whl": 6 * wheel.Large, "nccl-1.0-py3-none-any.whl": wheel.Large + 1,
			}
			w.mustProvide(w.cloudPlan(w.locked(w.wheel("six", "1.0", "x = 1"), w.wheel("nccl", "1.0", ""), w.wheel("limit", "1.0", ""), w.wheel("cudnn", "1.0", ""))))
			b := w.built()
			line := func(project string) string {
				file := project + "-1.0-py3-none-any.whl"
				return project + " @ " + w.index.URL + "/files/" + file + "#sha256=" + sum(w.files[file]) + "\n"
			}
			for file, want := range map[string]string{
				"package-cudnn.txt": line("cudnn"),
				"package-nccl.txt":  line("nccl"),
				"requirements.txt":  "--index-url " + w.index.URL + "/simple\n" + line("limit") + line("six"),
			} {
				if b.Files[file] != want {
					t.Errorf("%s\n%s\nwant\n%s", file, b.Files[file], want)
				}
			}
			if want := "COPY --link --from=package-cudnn /alone/ /\nCOPY --link --from=package-nccl /alone/ /\nCOPY --from=env "; !strings.Contains(b.Files["Dockerfile"], want) {
				t.Errorf("Dockerfile\n%s\nwant in it\n%s", b.Files["Dockerfile"], want)
			}
		})
	}
}

// TestDigestOfTheBaseInCloudBuild: the base has the digest that its tag stands for, if this machine can look it up.
func TestDigestOfTheBaseInCloudBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	w.mustProvide(w.cloudPlan(fromGit))
	d := w.built().Files["Dockerfile"]
	if !strings.Contains(d, "FROM "+w.base()+"@sha256:") {
		t.Errorf("Dockerfile\n%s", d)
	}
	w = newCloudWorld(t, cloudbuildtest.Pushes)
	plan := w.cloudPlan(fromGit)
	w.refuse(func(r *http.Request) int {
		if r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/base/") {
			return http.StatusTooManyRequests
		}
		return 0
	})
	w.mustProvide(plan)
	if d := w.built().Files["Dockerfile"]; !strings.Contains(d, "FROM "+w.base()+"\n") {
		t.Errorf("without an answer: Dockerfile\n%s", d)
	}
}
