package job

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// keras-kinetic stores results as pickles. Reading a pickle runs code, so this
// program only says where they are.

// unknownEnd says why the store can't say how the job ended; "" if it can.
func (j *Job) unknownEnd() string {
	if j.Handle.ByPythonTool() {
		return "only a pickle of keras-kinetic says how it ended"
	}
	return ""
}

// objects yields all objects of the job in the store. The Python tool keeps the outputs
// of its jobs under another prefix.
func (j *Job) objects(ctx context.Context) iter.Seq2[store.Object, error] {
	prefixes := []string{j.ID() + "/"}
	if j.Handle.ByPythonTool() {
		prefixes = append(prefixes, store.PythonOutputs(j.ID()))
	}
	return func(yield func(store.Object, error) bool) {
		for _, prefix := range prefixes {
			for o, err := range j.Store.List(ctx, prefix, "") {
				if !yield(o, err) || err != nil {
					return
				}
			}
		}
	}
}

func (j *Job) isOutput(o store.Object) bool {
	return strings.HasPrefix(o.Name, store.Outputs(j.ID())) || strings.HasPrefix(o.Name, store.PythonOutputs(j.ID()))
}

// PythonResult returns the URL of the pickled result of a job of keras-kinetic, ""
// if there is none.
func (j *Job) PythonResult(ctx context.Context) (string, error) {
	if !j.Handle.ByPythonTool() {
		return "", nil
	}
	name := store.PythonResult(j.ID())
	if found, err := store.HasAny(ctx, j.Store, name); !found {
		return "", err
	}
	return j.Store.URL() + "/" + name, nil
}

// PickleError says that a result can't be shown, because only Python can read it.
type PickleError struct{ ID, URL string }

func (e *PickleError) Error() string {
	return fmt.Sprintf(`job %s was submitted by keras-kinetic, and its result is a pickle: %s; reading one runs code in it, so do it yourself in Python:
  gcloud storage cp %s result.pkl
  python3 -c 'import cloudpickle; print(cloudpickle.load(open("result.pkl", "rb")))'
cloudpickle, and what the function returned, must be installed; the job is kept; delete it with: kubectl kinetic jobs cleanup %s`, e.ID, e.URL, human.Quote(e.URL), e.ID)
}
