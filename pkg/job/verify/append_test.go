package verify

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// watched is a store that looks at a file whenever a piece of a pickle was read.
type watched struct {
	store.Store
	look func()
	read *int
}

func (w watched) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := w.Store.Open(ctx, name)
	if err != nil || !strings.HasSuffix(name, ".pkl") {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{reader(func(p []byte) (int, error) {
		w.look()
		n, err := r.Read(p[:min(len(p), 1)])
		*w.read += n
		return n, err
	}), r}, nil
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// Nothing is in the file before it is checked, and no more is read than the result promises.
func TestAppendChecksFirst(t *testing.T) {
	j, reported := aMap(t, "gs://mine", cluster{now: states(api.Running)})
	put(t, j, "a1/results/1-2.pkl", strings.Repeat("x", 100))
	file, read := output(t), 0
	j.Store = watched{j.Store, func() {
		if info, err := file.Stat(); err != nil || info.Size() > 0 {
			t.Errorf("the file has %d bytes, %v", info.Size(), err)
		}
	}, &read}
	inputs := Verifier{}.Inputs(j)
	inputs.Note(api.Status{Hashes: reported})
	if err := inputs.Look(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	name, forged := "results/1-2.pkl", resultOf(1)
	forged.Pickle = &name
	if _, err := inputs.Append(t.Context(), file, 0, 1, forged); !errors.As(err, new(*Error)) || read != 4 {
		t.Errorf("read %d bytes, %v", read, err)
	}
	if _, err := inputs.Append(t.Context(), file, 0, 1, resultOf(1)); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Dir(file.Name()))
	if err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	kept, link := filepath.Join(dir, "kept"), filepath.Join(dir, "link")
	if err := os.WriteFile(kept, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(link); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a link: %v", err)
	}
	if text, err := os.ReadFile(kept); string(text) != "old" {
		t.Errorf("its target has %q, %v", text, err)
	}
	for _, name := range []string{kept, filepath.Join(dir, "new")} {
		file, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := file.Stat(); err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if err := file.Close(true); err != nil {
			t.Error(err)
		}
	}
}

// The file that is replaced may have the only copy of earlier results.
func TestClose(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		whole bool
		want  map[bool]string // by whether it has the name
	}{
		"whole":              {"new", true, map[bool]string{true: "new"}},
		"whole, but nothing": {"", true, map[bool]string{true: ""}},
		"in part":            {"ne", false, map[bool]string{true: "ne", false: "old"}},
		"nothing":            {"", false, map[bool]string{true: "old"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := Create(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.WriteString(tt.text); err != nil {
				t.Fatal(err)
			}
			if err := out.Close(tt.whole); err != nil {
				t.Error(err)
			}
			entries, err := os.ReadDir(filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			got := map[bool]string{}
			for _, e := range entries {
				text, err := os.ReadFile(filepath.Join(filepath.Dir(file), e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				named := e.Name() == "out"
				if got[named] = string(text); !named && out.Earlier != filepath.Join(filepath.Dir(file), e.Name()) {
					t.Errorf("the earlier one is %s, not %s", e.Name(), out.Earlier)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
