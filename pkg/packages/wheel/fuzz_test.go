package wheel_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"path"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// FuzzConvert reads any bytes as a wheel. What it accepts becomes a layer that stays below
// the prefix, unpacks to what is stated of it, and agrees with its RECORD.
func FuzzConvert(f *testing.F) {
	const name = "demo_pkg-1.2-py3-none-any.whl"
	_, members := demo()
	for i := range members {
		members[i].data = members[i].data[:min(len(members[i].data), 200)]
	}
	f.Add(archive(f, complete(f, "Demo_Pkg-1.2.dist-info", members)))
	f.Add(wheelOf(f, name, member{name: "big.bin", data: text(1, 33<<10)}))
	f.Add(wheelOf(f, name, member{name: "a", zip: func(h *zip.FileHeader) { h.Method = zip.Store }}))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := wheel.Open(name, bytes.NewReader(data), int64(len(data)), layout)
		if err != nil {
			return
		}
		l, err := wheel.NewLayer(context.Background(), w)
		if err != nil {
			return
		}
		files, _ := unpack(t, l)
		for name, file := range files {
			inside := name == layout.Prefix+"/" || strings.HasPrefix(name, layout.Prefix+"/") && path.Clean("/"+name) == "/"+strings.TrimSuffix(name, "/")
			if !inside || file.Typeflag != tar.TypeReg && file.Typeflag != tar.TypeDir {
				t.Errorf("the layer has %q of type %c", name, file.Typeflag)
			}
		}
		checkRecords(t, files)
	})
}

// FuzzRecord puts any text into RECORD.
func FuzzRecord(f *testing.F) {
	f.Add("a.py," + hashOf("x") + ",1\n")
	f.Add("a.py,,\r\n\"b \"\" , c\",sha512=,9\n")
	f.Fuzz(func(t *testing.T, record string) {
		data := wheelOf(t, badName, member{name: "a.py", data: "x"}, member{name: "bad-1.dist-info/RECORD", data: record})
		w, err := wheel.Open(badName, bytes.NewReader(data), int64(len(data)), layout)
		if err != nil {
			return
		}
		if l, err := wheel.NewLayer(context.Background(), w); err == nil {
			files, _ := unpack(t, l)
			checkRecords(t, files)
		}
	})
}

// FuzzEntryPoints puts any text into entry_points.txt. A command never leaves bin, and its
// text is what it is for.
func FuzzEntryPoints(f *testing.F) {
	f.Add("[console_scripts]\na = b:c\n")
	f.Add("[gui_scripts]\nä.b+c-d = e.f : g.h [x,y]\n; comment\n[x")
	f.Fuzz(func(t *testing.T, text string) {
		data := wheelOf(t, badName, member{name: "bad-1.dist-info/entry_points.txt", data: text})
		w, err := wheel.Open(badName, bytes.NewReader(data), int64(len(data)), layout)
		if err != nil {
			return
		}
		files, _ := unpack(t, layerOf(t, w))
		for name, file := range files {
			command, ok := strings.CutPrefix(name, layout.Prefix+"/bin/")
			if !ok || command == "" {
				continue
			}
			if strings.Contains(command, "/") || strings.Count(file.data, "\n") != 5 || !strings.HasPrefix(file.data, "#!/opt/kinetic/env/bin/python\nimport sys\nfrom ") {
				t.Errorf("command %q is %q", command, file.data)
			}
		}
	})
}

// FuzzName parses any file name. What it accepts is a plain file name that can be put
// together again from its parts.
func FuzzName(f *testing.F) {
	f.Add("six-1.16.0-py2.py3-none-any.whl")
	f.Add("a_b.c-1!2+x-3z-cp312-abi3-manylinux_2_17_x86_64.linux_x86_64.whl")
	f.Fuzz(func(t *testing.T, file string) {
		n, err := wheel.ParseName(file)
		if err != nil {
			return
		}
		parts := []string{n.Distribution, n.Version, n.Build, strings.Join(n.Pythons, "."), strings.Join(n.ABIs, "."), strings.Join(n.Platforms, ".")}
		if n.Build == "" {
			parts = append(parts[:2], parts[3:]...)
		}
		tags := strings.LastIndex(file[:strings.LastIndex(file[:strings.LastIndex(file, "-")], "-")], "-")
		if again := strings.Join(parts, "-") + ".whl"; again != file[:tags]+strings.ToLower(file[tags:]) || path.Base(file) != file {
			t.Errorf("%q became %q", file, again)
		}
		if p := n.Project(); requirement.Normalize(p) != p {
			t.Errorf("the project %q is not normalized", p)
		}
		target := wheel.Target{Python: "3.12", Arch: "amd64", Libc: "glibc 2.36"}
		if _, err := wheel.Best([]wheel.Name{n}, target); err != nil && len(err.Error()) < 40 {
			t.Error(err)
		}
	})
}
