package outputs

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// What a restore would not bring as it was saved is incomplete.
func TestMark(t *testing.T) {
	sum := uint32(1)
	found := func(name string, generation int64, by string) File {
		f := File{Name: name, Size: 3, object: store.Object{Generation: generation, CRC32C: &sum}}
		if by != "" {
			f.object.Metadata = map[string]string{"kinetic-sync": by + "/0/1"}
		}
		return f
	}
	link, top := "x", "ckpt"
	entry := func(path string) syncFile { return syncFile{Path: path, Size: 3, Generation: "7"} }
	for name, tt := range map[string]struct {
		file  File
		saved []syncFile
		want  bool
	}{
		"saved":                           {found("a/x", 7, "j1"), []syncFile{entry("a/x")}, false},
		"not saved yet":                   {found("a/x", 7, "j1"), nil, true},
		"replaced by the runner":          {found("a/x", 8, "j1"), []syncFile{entry("a/x")}, true},
		"of another size":                 {found("a/x", 7, "j1"), []syncFile{{Path: "a/x", Size: 4, Generation: "7"}}, true},
		"the rest of its unit is gone":    {found("a/x", 7, "j1"), []syncFile{entry("a/x"), entry("a/y")}, true},
		"another unit lacks a file":       {found("a/x", 7, "j1"), []syncFile{entry("a/x"), entry("b/y")}, false},
		"a file below it is another unit": {found("a/x", 7, "j1"), []syncFile{entry("a/x"), entry("a/b/y")}, false},
		"a unit with directories in it":   {found("ckpt/a/x", 7, "j1"), []syncFile{{Path: "ckpt/a/x", Size: 3, Generation: "7", Unit: &top}, {Path: "ckpt/b/y", Unit: &top}}, true},
		"a link of its unit":              {found("a/x", 7, "j1"), []syncFile{entry("a/x"), {Path: "a/last", Link: &link}}, false},
		"a link that became a file":       {found("a/x", 7, "j1"), []syncFile{{Path: "a/x", Link: &link}}, true},
		"written by a program":            {found("a/x", 9, ""), nil, false},
		"replaced by a program":           {found("a/x", 9, ""), []syncFile{entry("a/x")}, false},
		"written by another job":          {found("a/x", 9, "j2"), nil, false},
		"in a directory":                  {File{Name: "x", Size: 3}, []syncFile{entry("x")}, false},
		"in a directory, not saved":       {File{Name: "x", Size: 3}, nil, false},
		"in a directory, other size":      {File{Name: "x", Size: 2}, []syncFile{entry("x")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			saved := map[string]syncFile{}
			for _, s := range tt.saved {
				saved[s.Path] = s
			}
			files := []File{tt.file}
			mark("j1", files, saved)
			if files[0].Incomplete != tt.want {
				t.Errorf("incomplete: %v, want %v", files[0].Incomplete, tt.want)
			}
		})
	}
}

func TestMarked(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Of(&job.Job{Handle: api.Handle{JobID: "j1"}, Store: s})
	if err != nil {
		t.Fatal(err)
	}
	names := func(at string) (all []string, synced bool) {
		files, synced, err := dir.Marked(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Incomplete {
				f.Name += " is incomplete"
			}
			if f.Link != "" {
				f.Name += " -> " + f.Link
			}
			all = append(all, f.Name)
		}
		return all, synced
	}
	write("j1/outputs/a/x", "123")
	write("j1/outputs/b/y", "123")
	if got, synced := names(""); synced || cmp.Diff([]string{"a/x", "b/y"}, got) != "" {
		t.Errorf("without a record: %q, %v", got, synced)
	}
	write("j1/sync/0.json", `{"version":1,"attempt":1,"files":[{"path":"a/x","size":3,"mode":420,"mtime_ns":1,"md5":"","generation":"1"}]}`)
	write("j1/sync/1.json", `{"version":1,"files":[{"path":"b/y","size":3},{"path":"b/deep/z","size":3,"unit":"b"}]}`)
	want := []string{"a/x", "b/y"}
	want[1] = "b/y is incomplete"
	write("j1/sync/2.json", `{"version":1,"files":[{"path":"b/z","size":3}]}`)
	if got, synced := names(""); !synced || cmp.Diff(want, got) != "" {
		t.Errorf("got %q, %v", got, synced)
	}
	if got, _ := names("b"); cmp.Diff(want[1:], got) != "" {
		t.Errorf("below b: %q", got)
	}
	write("j1/sync/3.json", `{"version":1,"files":[{"path":"last","link":"/kinetic/outputs/a"},{"path":"b/out","link":"../../x"}]}`)
	if got, _ := names(""); cmp.Diff(append(slices.Clone(want), "last -> a"), got) != "" {
		t.Errorf("with a link: %q", got)
	}
	if got, _ := names("last/"); cmp.Diff([]string{"a/x"}, got) != "" {
		t.Errorf("below a link: %q", got)
	}
	write("j1/sync/4.json", `{"version":2}`)
	if _, _, err := dir.Marked(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "sync/4.json") {
		t.Errorf("a newer record: %v", err)
	}
}
