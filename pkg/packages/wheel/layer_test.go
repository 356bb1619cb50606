package wheel_test

import (
	"archive/tar"
	"archive/zip"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// demo is a wheel with everything that wheels have.
func demo() (fileName string, members []member) {
	return "Demo_Pkg-1.2-1-py3-none-any.whl", []member{
		{name: "demo/", mode: 0o040755},
		{name: "demo/__init__.py", data: "from .big import x\n"},
		{name: "demo/big.py", data: text(1, 100<<10)},
		{name: "demo/lib.so", data: noise(1, 64<<10), mode: regular | 0o755},
		{name: "demo/stored.bin", data: noise(2, 40<<10), zip: func(h *zip.FileHeader) { h.Method = zip.Store }},
		{name: "demo/empty.txt"},
		{name: "demo/limit.py", data: text(2, 32<<10)},
		{name: "demo/typeless.sh", data: "no file, as its mode says\n", mode: 0o755},
		{name: "demo/ünï \"quoted\", code.txt", data: "x"},
		{name: "demo/" + strings.Repeat("n", 60) + "/" + strings.Repeat("m", 60) + ".txt", data: "a path beyond the 100 bytes of old tars"},
		{name: "Demo_Pkg-1.2.data/purelib/pure.py", data: "pure = 1\n"},
		{name: "Demo_Pkg-1.2.data/platlib/plat.py", data: "plat = 1\n"},
		{name: "Demo_Pkg-1.2.data/data/share/demo/readme", data: "data\n"},
		{name: "Demo_Pkg-1.2.data/data/lib/python3.12/near.txt", data: "beside site-packages\n"},
		{name: "Demo_Pkg-1.2.data/headers/demo.h", data: "int demo;\n"},
		{name: "Demo_Pkg-1.2.data/scripts/demo-run", data: "#!python -E\nprint('run')\n", mode: regular | 0o755},
		{name: "Demo_Pkg-1.2.data/scripts/demo-sh", data: "#!/bin/sh\necho sh\n"},
		{name: "Demo_Pkg-1.2.data/scripts/demo-bare", data: "#!python", mode: regular | 0o755},
		{name: "Demo_Pkg-1.2.data/scripts/demo-script.py", data: "setuptools' own\n"},
		{name: "Demo_Pkg-1.2.dist-info/entry_points.txt", data: "# commands\n[console_scripts]\ndemo = demo.main:App.run [fast]\n\n[gui_scripts]\ndemo-gui=demo:gui\n[demo.plugins]\nany thing = goes here\n"},
		{name: "Demo_Pkg-1.2.dist-info/INSTALLER", data: "other\n"},
		{name: "Demo_Pkg-1.2.dist-info/RECORD.jws", data: "{}"},
		{name: "Demo_Pkg-1.2.dist-info/RECORD.p7s", data: "{}"},
	}
}

func TestLayerOfAWheelIsItsInstallation(t *testing.T) {
	fileName, members := demo()
	files, order := unpack(t, layerOf(t, openOf(t, fileName, members...)))
	var listing strings.Builder
	for _, name := range order {
		f := files[name]
		fmt.Fprintf(&listing, "%04o %7d %s\n", f.Mode, f.Size, name)
		if f.Uid != 0 || f.Gid != 0 || f.Uname != "" || f.ModTime.Unix() != 315532800 || f.Format != tar.FormatPAX && f.Format != tar.FormatUSTAR {
			t.Errorf("%s: %+v", name, f.Header)
		}
	}
	for _, name := range []string{
		"bin/demo", "bin/demo-gui", "bin/demo-run", "bin/demo-bare", "bin/demo-sh",
		"lib/python3.12/site-packages/Demo_Pkg-1.2.dist-info/INSTALLER", "lib/python3.12/site-packages/Demo_Pkg-1.2.dist-info/RECORD",
	} {
		fmt.Fprintf(&listing, "-- %s --\n%s", name, files[layout.Prefix+"/"+name].data)
	}
	golden.Check(t, "testdata/demo.golden", listing.String())
	for _, m := range members {
		if f, ok := files[site+"/"+m.name]; ok && f.Typeflag == tar.TypeReg && f.data != m.data && !strings.HasSuffix(m.name, "INSTALLER") {
			t.Errorf("%s has %d bytes that differ", m.name, len(f.data))
		}
	}
	checkRecords(t, files)
}

// checkRecords compares each file of an environment with the RECORD that lists it.
func checkRecords(t *testing.T, files map[string]unpacked) {
	t.Helper()
	unlisted := map[string]bool{}
	for name, f := range files {
		if _, deleted := whiteout(name); f.Typeflag == tar.TypeReg && !deleted {
			unlisted[name] = true
		}
	}
	for _, record := range slices.Sorted(maps.Keys(files)) {
		if path.Base(record) != "RECORD" {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(files[record].data)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			name := path.Join(path.Dir(path.Dir(record)), row[0])
			f, ok := files[name]
			if !ok {
				t.Errorf("%s lists %s, which is missing", record, row[0])
			}
			if name != record && (row[1] != hashOf(f.data) || row[2] != fmt.Sprint(f.Size)) {
				t.Errorf("%s has a wrong row %q", record, row)
			}
			delete(unlisted, name)
		}
	}
	if len(unlisted) > 0 {
		t.Errorf("no RECORD lists %q", slices.Sorted(maps.Keys(unlisted)))
	}
}

// If this test fails, wheel.Format has to be raised: a registry has layers with these digests.
func TestGoldenDigests(t *testing.T) {
	fileName, members := demo()
	small := openOf(t, "small-1-py3-none-any.whl", member{name: "small.py", data: "x = 1\n"})
	var got strings.Builder
	fmt.Fprintf(&got, "format %d\n", wheel.Format)
	venv, err := wheel.Venv(context.Background(), layout, "/usr/local/bin/python3.12", "")
	if err != nil {
		t.Fatal(err)
	}
	demoWheel := openOf(t, fileName, members...)
	for _, l := range []struct {
		name  string
		layer *wheel.Layer
	}{{"demo", layerOf(t, demoWheel)}, {"small", layerOf(t, small)}, {"both", layerOf(t, demoWheel, small)}, {"venv", venv}} {
		fmt.Fprintf(&got, "%s %s %s %d %d %d\n", l.name, l.layer.Digest, l.layer.DiffID, l.layer.Size, l.layer.Unpacked, l.layer.Files)
	}
	golden.Check(t, "testdata/digests.golden", got.String())
}

// The archive's order, times and compression of small members must not matter.
func TestOnlyContentsCount(t *testing.T) {
	members := complete(t, "small-1.dist-info", []member{{name: "a.py", data: "a = 1\n"}, {name: "b/c.py", data: text(3, 1000)}})
	want := layerOf(t, open(t, "small-1-py3-none-any.whl", archive(t, members)))
	for i := range members {
		members[i].zip = func(h *zip.FileHeader) { h.Method, h.Modified = zip.Store, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }
	}
	slices.Reverse(members)
	got := layerOf(t, open(t, "small-1-py3-none-any.whl", archive(t, members)))
	if got.Digest != want.Digest {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOtherProgramsReadLayers(t *testing.T) {
	fileName, members := demo()
	layer := layerOf(t, openOf(t, fileName, members...))
	files, order := unpack(t, layer)
	archive := filepath.Join(t.TempDir(), "layer.tar.gz")
	if err := os.WriteFile(archive, bytesOf(t, layer), 0o644); err != nil {
		t.Fatal(err)
	}
	const list = "import sys, tarfile\nfor m in tarfile.open(sys.argv[1]):\n    print(m.name + '/' * m.isdir())\n"
	for name, args := range map[string][]string{
		"gzip":    {"--test", "--verbose", archive},
		"tar":     {"--list", "--gzip", "--quoting-style=literal", "--file", archive},
		"python3": {"-c", list, archive},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(name, args...)
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PYTHONIOENCODING=utf-8")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if want := strings.Join(order, "\n") + "\n"; name != "gzip" && string(out) != want {
				t.Errorf("got\n%s\nwant\n%s", out, want)
			}
		})
	}
	t.Run("tar unpacks", func(t *testing.T) {
		if _, err := exec.LookPath("tar"); err != nil {
			t.Skip(err)
		}
		dir := t.TempDir()
		if out, err := exec.Command("tar", "-C", dir, "-xzf", archive).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for name, f := range files {
			if f.Typeflag != tar.TypeReg {
				continue
			}
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != f.data {
				t.Errorf("%s differs: %v", name, err)
			}
		}
	})
}
