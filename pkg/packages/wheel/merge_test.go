package wheel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

func TestGroup(t *testing.T) {
	for name, tt := range map[string]struct {
		sizes []int64
		most  int
		want  [][]int
	}{
		"none":                     {nil, 100, nil},
		"the largest first":        {[]int64{1, 3, 2}, 100, [][]int{{1}, {2}, {0}}},
		"equals keep their order":  {[]int64{1, 2, 1, 2}, 100, [][]int{{1}, {3}, {0}, {2}}},
		"exactly as many":          {[]int64{1, 2, 3}, 3, [][]int{{2}, {1}, {0}}},
		"the smallest share one":   {[]int64{1, 5, 4, 3, 2}, 3, [][]int{{1}, {2}, {3, 4, 0}}},
		"one layer for all":        {[]int64{1, 2}, 1, [][]int{{1, 0}}},
		"less than one layer is 1": {[]int64{1, 2}, 0, [][]int{{1, 0}}},
	} {
		if diff := cmp.Diff(tt.want, wheel.Group(tt.sizes, tt.most)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWheelsShareALayer(t *testing.T) {
	a := openOf(t, "a-1-py3-none-any.whl", member{name: "ns/__init__.py", data: "a = 1\n"}, member{name: "ns/same.py"}, member{name: "ns/a.py", data: text(1, 40<<10)})
	b := openOf(t, "b-1-py3-none-any.whl", member{name: "ns/__init__.py", data: "b = 1\n"}, member{name: "ns/same.py"}, member{name: "ns/b.py", data: text(2, 40<<10)})
	l := layerOf(t, a, b)
	files, _ := unpack(t, l)
	for name, want := range map[string]string{"ns/__init__.py": "b = 1\n", "ns/same.py": "", "ns/a.py": text(1, 40<<10), "ns/b.py": text(2, 40<<10)} {
		if got := files[site+"/"+name]; got.data != want {
			t.Errorf("%s has %d bytes, want %d others", name, len(got.data), len(want))
		}
	}
	// The other way around, the other wins.
	files, _ = unpack(t, layerOf(t, b, a))
	if got := files[site+"/ns/__init__.py"].data; got != "a = 1\n" {
		t.Errorf("__init__.py is %q", got)
	}
}

func TestWheelsThatCannotShareALayer(t *testing.T) {
	a := openOf(t, "a-1-py3-none-any.whl", member{name: "x", data: "1"})
	below := openOf(t, "b-1-py3-none-any.whl", member{name: "x/y"})
	want := "/" + site + "/x of a-1-py3-none-any.whl would be a file, and a folder for /" + site + "/x/y of b-1-py3-n"
	if _, err := wheel.NewLayer(context.Background(), a, below); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("err = %v, want %q in it", err, want)
	}
}

func TestVenv(t *testing.T) {
	for python, home := range map[string]string{"/usr/local/bin/python3.12": "/usr/local/bin", "/opt/conda/bin/python": "/opt/conda/bin"} {
		for beneath, line := range map[string]string{"": "", "/opt/venv": "import site; site.addsitedir('/opt/venv/lib/python3.12/site-packages')\n"} {
			l, err := wheel.Venv(context.Background(), layout, python, beneath)
			if err != nil {
				t.Fatal(err)
			}
			files, order := unpack(t, l)
			want := []string{"", "bin/", "bin/python", "bin/python3", "bin/python3.12"}
			if beneath != "" {
				want = append(want, "lib/", "lib/python3.12/", "lib/python3.12/site-packages/", "lib/python3.12/site-packages/_image.pth")
			}
			want = append(want, "pyvenv.cfg")
			for i := range want {
				want[i] = layout.Prefix + "/" + want[i]
			}
			if diff := cmp.Diff(want, order); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			config := "home = " + home + "\ninclude-system-site-packages = true\nversion = 3.12\n"
			if got := files[layout.Prefix+"/pyvenv.cfg"].data; got != config {
				t.Errorf("pyvenv.cfg is %q, want %q", got, config)
			}
			if got := files[site+"/_image.pth"].data; got != line {
				t.Errorf("_image.pth is %q, want %q", got, line)
			}
			for name, target := range map[string]string{"python": python, "python3": "python", "python3.12": "python"} {
				if got := files[layout.Prefix+"/bin/"+name].Linkname; got != target {
					t.Errorf("%s leads to %q, want %q", name, got, target)
				}
			}
		}
	}
}

func TestVenvNeedsAnInterpreterOfTheImage(t *testing.T) {
	for _, python := range []string{"", "python3", "/usr/bin/../python3", "/usr/bin/my python", "/x\ny", "/opt/kinetic/env/bin/python"} {
		if _, err := wheel.Venv(context.Background(), layout, python, ""); err == nil || !strings.Contains(err.Error(), "is not the absolute path of an interpreter") {
			t.Errorf("%q: err = %v", python, err)
		}
	}
}
