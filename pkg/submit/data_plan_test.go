package submit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// folder makes a directory with images/a.png and weights.h5.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "images"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"images/a.png": "png", "weights.h5": "weights"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readData finds and reads the inputs of a job, whose backend and store are those of s.
func readData(t *testing.T, m Machine, s *api.Spec, named ...string) (Inputs, error) {
	t.Helper()
	list, p, err := findInputs(api.Request{Data: named, Placement: api.Placement{Backend: s.Backend}}, m)
	if err == nil {
		s.Data = list
		err = p.read(t.Context(), s, "")
	}
	return p, err
}

func TestLocalData(t *testing.T) {
	dir := folder(t)
	var s api.Spec
	p, err := readData(t, Machine{Cwd: dir, Home: dir}, &s, "images=images", "again=~/images", "w=./weights.h5", "b=gs://b/f")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(dir, "images"), filepath.Join(dir, "weights.h5")}; !cmp.Equal(p.Paths, want) {
		t.Errorf("paths %q, want %q", p.Paths, want)
	}
	d := s.Data
	if d[0].Set == "" || d[0].Set != d[1].Set || d[0].Set == d[2].Set || d[3].Set != "" {
		t.Errorf("sets %q, %q, %q, %q: want one for each source", d[0].Set, d[1].Set, d[2].Set, d[3].Set)
	}
	if d[0].File != "" || d[2].File != "weights.h5" {
		t.Errorf("files %q and %q, want none and weights.h5", d[0].File, d[2].File)
	}
	if d[0].Bytes != 3 || d[2].Bytes != 7 || inputBytes(d) != 10 {
		t.Errorf("%d and %d bytes, %d in all: want 3, 7, 10", d[0].Bytes, d[2].Bytes, inputBytes(d))
	}
	if len(p.Sets) != 2 {
		t.Errorf("%d sets, want 2", len(p.Sets))
	}
}

func TestMountedLocalData(t *testing.T) {
	dir := folder(t)
	var s api.Spec
	p, err := readData(t, Machine{Cwd: dir}, &s, "images=images,fuse", "copied=images", "w=weights.h5,fuse", "again=./weights.h5,fuse")
	if err != nil {
		t.Fatal(err)
	}
	d := s.Data
	if len(p.Trees) != 2 || len(p.Sets) != 1 || p.Trees[0] != p.Sets[0] || p.Trees[0].SHA256 != d[0].Set || d[0].Set != d[1].Set {
		t.Errorf("trees %v and sets %v of %+v: want two and one", p.Trees, p.Sets, d)
	}
	want := api.Data{Name: "w", Source: "weights.h5", Access: api.AccessFUSE, Set: p.Trees[1].SHA256, Path: "/kinetic-data/w", File: "weights.h5", Files: 1, Bytes: 7}
	if diff := cmp.Diff(want, d[2]); diff != "" {
		t.Errorf("a single file (-want +got)\n%s", diff)
	}
	if n := inputBytes(d); n != 3 {
		t.Errorf("%d bytes on the pod's disk, want 3: what is mounted takes none", n)
	}
	if files, bytes := p.Stored(); files != 2 || bytes != 10 {
		t.Errorf("%d files of %d bytes in the store, want two of 10 bytes", files, bytes)
	}
	if doubts := checkSources(t.Context(), d); len(doubts) > 0 {
		t.Errorf("doubts %q about files that the submit uploads", doubts)
	}
}

func TestFilesThatCannotBeMounted(t *testing.T) {
	dir := folder(t)
	if err := os.WriteFile(filepath.Join(dir, "images", "a\nb"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ value, store, want string }{
		{"x=images", "gs://acme,b", ""},
		{"x=images,fuse", "gs://acme/a,b", "because its URL has a comma"},
		{"x=images,fuse", "gs://acme", `cannot package "a\nb": object names in a bucket can't contain line breaks: rename it, or omit fuse`},
		{"x=weights.h5,fuse", "gs://acme", ""},
	} {
		_, err := readData(t, Machine{Cwd: dir}, &api.Spec{Store: tt.store}, tt.value)
		if err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s in %s: error %v, want %q", tt.value, tt.store, err, tt.want)
		}
	}
}

func TestManyMountedFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 10_001 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for value, want := range map[string]int{"x=.": 0, "x=.,fuse": 1} {
		p, err := readData(t, Machine{Cwd: dir}, &api.Spec{}, value)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Warnings) != want || want > 0 && !strings.Contains(p.Warnings[0], "its 10001 files are uploaded and read one by one") {
			t.Errorf("%s: warnings %q", value, p.Warnings)
		}
	}
}

func TestDataOfALocalJob(t *testing.T) {
	dir := folder(t)
	s := api.Spec{Placement: api.Placement{Backend: api.BackendLocal}}
	p, err := readData(t, Machine{Cwd: dir}, &s, "images=images", "b=gs://b/f,fuse", "w=weights.h5,fuse")
	if err != nil {
		t.Fatal(err)
	}
	want := []api.Data{
		{Name: "images", Source: "images", Access: api.AccessHere, Path: filepath.Join(dir, "images")},
		{Name: "b", Source: "gs://b/f", Access: api.AccessCopy, URL: "gs://b/f"},
		{Name: "w", Source: "weights.h5", Access: api.AccessHere, Path: filepath.Join(dir, "weights.h5")},
	}
	if diff := cmp.Diff(want, s.Data); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(p.Warnings) != 1 {
		t.Errorf("warnings %q, want one about fuse", p.Warnings)
	}
	if len(p.Sets) != 0 {
		t.Errorf("%d sets, want none: the files stay where they are", len(p.Sets))
	}
}

func TestVolumesOfALocalJob(t *testing.T) {
	dir := folder(t)
	local := api.Placement{Backend: api.BackendLocal}
	got, _, err := findInputs(api.Request{Volumes: []string{"/m/images=images", "/m/b=gs://b/f,fuse", "/m/w=weights.h5,fuse"}, Placement: local}, Machine{Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []api.Data{
		{Mount: "/m/images", Source: "images", Access: api.AccessHere, Path: filepath.Join(dir, "images")},
		{Mount: "/m/b", Source: "gs://b/f", Access: api.AccessCopy, URL: "gs://b/f"},
		{Mount: "/m/w", Source: "weights.h5", Access: api.AccessHere, Path: dir, File: "weights.h5"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for value, want := range map[string]string{
		"/m=gs://b/f,fuse,rw": "nothing would reach the bucket: omit rw, and write to KINETIC_OUTPUT_DIR",
		"/m=pvc://c":          "no PersistentVolumeClaims",
	} {
		if _, _, err := findInputs(api.Request{Volumes: []string{value}, Placement: local}, Machine{Cwd: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", value, err, want)
		}
	}
}

func TestFindInputMistakes(t *testing.T) {
	dir := folder(t)
	for _, test := range []struct {
		backend     api.Backend
		value, want string
	}{
		{"", "x=image", `--data x=image: there is no image (`},
		{"", "x=image", `did you mean "images"?`},
		{"", "x=/no/such/thing", "there is no /no/such/thing: name a file"},
		{"", "x=/dev/null", "neither a file nor a directory"},
		{api.BackendLocal, "x=pvc://c", "no PersistentVolumeClaims"},
	} {
		_, _, err := findInputs(api.Request{Data: []string{test.value}, Placement: api.Placement{Backend: test.backend}}, Machine{Cwd: dir})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q in it", test.value, err, test.want)
		}
	}
}
