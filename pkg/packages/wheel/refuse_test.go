package wheel_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

const badName = "bad-1-py3-none-any.whl"

// convert opens and converts a wheel.
func convert(fileName string, data []byte, l wheel.Layout) error {
	w, err := wheel.Open(fileName, bytes.NewReader(data), int64(len(data)), l)
	if err != nil {
		return err
	}
	_, err = wheel.NewLayer(context.Background(), w)
	return err
}

func TestBadWheelsAreRefused(t *testing.T) {
	record := func(rows string) member { return member{name: "bad-1.dist-info/RECORD", data: rows} }
	tests := map[string]struct {
		members []member
		want    string
	}{
		"absolute":             {[]member{{name: "/etc/passwd"}}, `"/etc/passwd": the name leads out of the wheel`},
		"parent":               {[]member{{name: "../x"}}, `"../x": the name leads out of the wheel`},
		"parent inside":        {[]member{{name: "a/../../x"}}, "leads out of the wheel"},
		"parent in data":       {[]member{{name: "bad-1.data/data/../../x"}}, "leads out of the wheel"},
		"parent folder":        {[]member{{name: "../x/"}}, `"../x/": the name leads out of the wheel`},
		"backslash":            {[]member{{name: `a\..\x`}}, "has a backslash or a NUL"},
		"NUL":                  {[]member{{name: "a\x00b"}}, "has a backslash or a NUL"},
		"double slash":         {[]member{{name: "a//b"}}, "not a plain path"},
		"dot":                  {[]member{{name: "./a"}}, "not a plain path"},
		"not UTF-8":            {[]member{{name: "a\xff", lie: stating(func(h *zip.FileHeader) { h.Flags |= 0x800 })}}, "not UTF-8"},
		"long name":            {[]member{{name: strings.Repeat("a", 256)}}, "256 bytes, Linux allows 255"},
		"long path":            {[]member{{name: strings.Repeat("abcdefg/", 512) + "a"}}, "Linux allows 4095"},
		"deletes in images":    {[]member{{name: "numpy/.wh.core"}}, `".wh.core" marks a deleted file`},
		"deleting command":     {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[console_scripts]\n.wh.python = a:b\n"}}, "marks a deleted file"},
		"interpreter":          {[]member{{name: "bad-1.data/scripts/python3"}}, "would replace /opt/kinetic/env/bin/python3"},
		"interpreter in data":  {[]member{{name: "bad-1.data/data/bin/python3.12"}}, "would replace /opt/kinetic/env/bin/python3.12"},
		"interpreter command":  {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[console_scripts]\npython = a:b\n"}}, `entry point "python": it would replace`},
		"venv":                 {[]member{{name: "bad-1.data/data/pyvenv.cfg"}}, "would replace /opt/kinetic/env/pyvenv.cfg"},
		"place of RECORD":      {[]member{{name: "bad-1.data/purelib/bad-1.dist-info/RECORD"}}, "would replace RECORD"},
		"file and folder":      {[]member{{name: "a"}, {name: "a-b"}, {name: "a/b"}}, "would be a file, and a folder for"},
		"unknown data":         {[]member{{name: "bad-1.data/etc/x"}}, "bad-1.data/etc is not one of purelib, platlib"},
		"data without kind":    {[]member{{name: "bad-1.data/x"}}, "in no directory of bad-1.data"},
		"new format":           {[]member{{name: "bad-1.dist-info/WHEEL", data: "Wheel-Version: 2.0\n"}}, `version "2.0", only 1.x`},
		"no format":            {[]member{{name: "bad-1.dist-info/WHEEL"}}, `version "", only 1.x`},
		"two dist-infos":       {[]member{{name: "bad-2.dist-info/x"}}, "two .dist-info directories"},
		"other dist-info":      {[]member{{name: "aaa-1.dist-info/x"}}, `"aaa-1.dist-info" does not belong to the project bad`},
		"entry point":          {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[console_scripts]\n\nbad = module\n"}}, `line 3: "bad = module" is not of the form`},
		"entry point's name":   {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[console_scripts]\n../bad = a:b\n"}}, `"../bad" is not the name of a command`},
		"entry point's dots":   {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[gui_scripts]\n.. = a:b\n"}}, `".." is not the name of a command`},
		"entry point's code":   {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[console_scripts]\nx = a:b();import os\n"}}, "is not of the form"},
		"encrypted":            {[]member{{name: "a", zip: func(h *zip.FileHeader) { h.Flags |= 1 }}}, `"a": it is encrypted`},
		"long first line":      {[]member{{name: "bad-1.data/scripts/a", data: "#!python" + strings.Repeat(" ", 5000)}}, "its first line has more than 4096 bytes"},
		"lying about the size": {[]member{{name: "a.py", data: "12345", lie: stating(func(h *zip.FileHeader) { h.UncompressedSize64-- })}, record("")}, "unpacks to more than the 4 bytes"},
		"bomb":                 {[]member{{name: "a", data: strings.Repeat("x", 1<<20), lie: stating(func(h *zip.FileHeader) { h.UncompressedSize64 = 100 << 10 })}, record("")}, "unpacks to more than the 102400 bytes"},
		"shorter":              {[]member{{name: "a.py", data: "12345", lie: stating(func(h *zip.FileHeader) { h.UncompressedSize64++ })}, record("")}, "unpacks to 1 bytes less"},
		"wrong checksum":       {[]member{{name: "a.py", data: "12345", lie: stating(func(h *zip.FileHeader) { h.CRC32++ })}, record("")}, "its checksum is"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var data []byte
			if name == "two dist-infos" || name == "other dist-info" {
				data = archive(t, append(complete(t, "bad-1.dist-info", nil), tt.members...))
			} else {
				data = archive(t, complete(t, "bad-1.dist-info", tt.members))
			}
			err := convert(badName, data, layout)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), badName) {
				t.Errorf("err = %v\nwant %q and the file's name in it", err, tt.want)
			}
		})
	}
}

// TestWrongRecords: what pip installs is installed, with a RECORD that is right, and a warning.
func TestWrongRecords(t *testing.T) {
	record := func(rows string) member { return member{name: "bad-1.dist-info/RECORD", data: rows} }
	for name, tt := range map[string]struct {
		members []member
		want    string
	}{
		"same member":        {[]member{{name: "a.py", data: "1"}, {name: "a.py", data: "2"}}, `"a.py" is in the archive twice`},
		"same place":         {[]member{{name: "a.py"}, {name: "bad-1.data/purelib/a.py"}}, `"a.py" and "bad-1.data/purelib/a.py" are one file`},
		"same place, data":   {[]member{{name: "a.py"}, {name: "bad-1.data/data/lib/python3.12/site-packages/a.py"}}, `"a.py" and "bad-1.data/data/lib/python3.12/site-packages/a.py" are one file`},
		"wrong hash":         {[]member{{name: "a.py", data: "x"}, record("a.py," + hashOf("y") + ",1\n")}, `"a.py": its hash is ` + hashOf("x") + ", and RECORD states " + hashOf("y")},
		"wrong hash, large":  {[]member{{name: "a.so", data: noise(1, 40<<10)}, record("a.so," + hashOf("y") + ",40960\n")}, `"a.so": its hash is`},
		"wrong hash, script": {[]member{{name: "bad-1.data/scripts/a", data: "#!python\n"}, record("bad-1.data/scripts/a," + hashOf("y") + ",\n")}, `"bad-1.data/scripts/a": its hash is`},
		"wrong size":         {[]member{{name: "a.py", data: "x"}, record("a.py," + hashOf("x") + ",2\n")}, `"a.py" has 1 bytes, and not 2`},
		"missing member":     {[]member{record("a.py," + hashOf("x") + ",1\n")}, `"a.py" is not in the archive`},
		"weak hash":          {[]member{{name: "a.py"}, record("a.py,md5=1B2M2Y8AsgTpgAmY7PhCfg,0\n")}, `line 1: "a.py": the hash algorithm "md5"`},
		"short hash":         {[]member{{name: "a.py"}, record("a.py,sha256=abcd,0\n")}, "is not the base64 of a sha256 digest"},
		"no hash":            {[]member{{name: "a.py"}, record("\na.py,abcd,0\n")}, `line 2: "a.py": "abcd" is not a hash`},
		"no number":          {[]member{{name: "a.py"}, record("a.py,,many\n")}, `"many" is not a size`},
		"negative number":    {[]member{{name: "a.py"}, record("a.py,,-1\n")}, `"-1" is not a size`},
		"too many columns":   {[]member{{name: "a.py"}, record("a.py,,,\n")}, "4 columns, not 3"},
		"not CSV":            {[]member{{name: "a.py"}, record("a\"b,,\n")}, "parse error on line 1"},
		"listed twice":       {[]member{{name: "a.py"}, record("a.py,,0\na.py,,1\n")}, "listed twice"},
		"dot":                {[]member{{name: "a.py", data: "x"}, record("./a.py," + hashOf("x") + ",1\n")}, ""},
		"two wrong ones":     {[]member{{name: "a.py", data: "x"}, {name: "b.py", data: "x"}, record("a.py," + hashOf("y") + ",1\nb.py," + hashOf("z") + ",1\n")}, "(and 1 more)"},
		"wrong SHA-512":      {[]member{{name: "a.py", data: "x"}, record("a.py,sha512=" + strings.Repeat("A", 86) + ",1\n")}, `"a.py": its hash is sha512=`},
		"comment":            {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[console_scripts]\nbad = a:b # calls it\n"}}, ""},
		"blank":              {[]member{{name: "bad-1.dist-info/entry_points.txt", data: "[console_scripts]\nmy bad = a:b\n"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			members := complete(t, "bad-1.dist-info", tt.members)
			if name == "same member" {
				members = append(complete(t, "bad-1.dist-info", nil), tt.members...)
			}
			data := archive(t, members)
			w, err := wheel.Open(badName, bytes.NewReader(data), int64(len(data)), layout)
			if err != nil {
				t.Fatal(err)
			}
			layer, err := wheel.NewLayer(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			files, _ := unpack(t, layer)
			checkRecords(t, files)
			if got := strings.Join(layer.Warnings, "\n"); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") || got != "" && !strings.HasPrefix(got, badName+" is installed as it is, but its RECORD is wrong: ") {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
			if name == "same member" && files[site+"/a.py"].data != "2" {
				t.Errorf("a.py is %q, want the last one", files[site+"/a.py"].data)
			}
		})
	}
}

// stating has the archive state something else of a member than it is.
func stating(change func(*zip.FileHeader)) func(*zip.FileHeader, []byte) []byte {
	return func(h *zip.FileHeader, compressed []byte) []byte {
		change(h)
		return compressed
	}
}

// Bytes behind the end of a deflate stream would end up in the layer. The unpacking must not
// read them by itself either, however few they are.
func TestBytesBehindAStreamAreRefused(t *testing.T) {
	for _, size := range []int{0, 1, 5, 100, 40 << 10} {
		for extra := range 12 {
			m := member{name: "a", data: text(uint64(size), size), lie: func(_ *zip.FileHeader, compressed []byte) []byte {
				return append(compressed, make([]byte, extra)...)
			}}
			err := convert(badName, wheelOf(t, badName, m), layout)
			if extra == 0 && err != nil {
				t.Errorf("%d bytes: %v", size, err)
			}
			if extra > 0 && (err == nil || !strings.Contains(err.Error(), `"a": its compressed data ends before`)) {
				t.Errorf("%d bytes and %d more: err = %v", size, extra, err)
			}
		}
	}
}

func TestDamagedArchivesAreRefused(t *testing.T) {
	data := wheelOf(t, badName, member{name: "a.py", data: text(1, 40<<10)})
	for at := 0; at < len(data); at += 97 {
		if err := convert(badName, data[:at], layout); err == nil || !strings.Contains(err.Error(), badName) {
			t.Errorf("the first %d bytes: err = %v", at, err)
		}
	}
	// Members that share their bytes unpack to far more than the archive has.
	entry := bytes.LastIndex(data, []byte("PK\x01\x02\x14\x03")) // the last in the archive's directory
	for _, size := range []int{len(data), len(data) + 1, 1<<32 - 2} {
		binary.LittleEndian.PutUint32(data[entry+20:], uint32(size))
		if err := convert(badName, data, layout); err == nil || !strings.Contains(err.Error(), "larger than the archive") {
			t.Errorf("members of %d bytes and more: err = %v", size, err)
		}
	}
}

func TestOnlyWheelsAreRead(t *testing.T) {
	for want, members := range map[string][]member{
		"there is no .dist-info directory":     {{name: "a.py"}},
		"there is no bad-1.dist-info/WHEEL":    {{name: "bad-1.dist-info/RECORD"}},
		"there is no bad-1.dist-info/RECORD":   {{name: "bad-1.dist-info/WHEEL", data: "Wheel-Version: 1.0\n"}},
		"it is compressed with method 12":      {{name: "a", lie: stating(func(h *zip.FileHeader) { h.Method = 12 })}},
		"it is not compressed, but has two si": {{name: "a", data: text(1, 100), lie: stating(func(h *zip.FileHeader) { h.Method = zip.Store })}},
	} {
		if err := convert(badName, archive(t, members), layout); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %q in it", err, want)
		}
	}
	if err := convert("a.zip", nil, layout); err == nil || !strings.Contains(err.Error(), "not the file name of a wheel") {
		t.Errorf("err = %v, want one about the name", err)
	}
}

func TestLayoutIsChecked(t *testing.T) {
	data := wheelOf(t, badName)
	for want, l := range map[string]wheel.Layout{
		`version "" of Python`:              {Prefix: "opt/env"},
		`"/opt/env" is not a relative path`: {Prefix: "/opt/env", Python: "3.12"},
		`"" is not a relative path`:         {Python: "3.12"},
		`"opt/../env" is not`:               {Prefix: "opt/../env", Python: "3.12"},
		`"opt/my env" is not`:               {Prefix: "opt/my env", Python: "3.12"},
		"of at most 100 letters":            {Prefix: strings.Repeat("a", 101), Python: "3.12"},
	} {
		if err := convert(badName, data, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: err = %v, want %q in it", l, err, want)
		}
		if _, err := wheel.Venv(context.Background(), l, "/usr/bin/python3", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Venv of %+v: err = %v, want %q in it", l, err, want)
		}
	}
}

// failing is a file of a disk that fails in the middle of a member.
type failing struct {
	*bytes.Reader
	from int64
}

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	if at >= f.from && at < f.from+100<<10 {
		return 0, &fs.PathError{Op: "read", Path: "a.whl", Err: errors.New("disk failure")}
	}
	return f.Reader.ReadAt(p, at)
}

func TestAdviceIsForBadWheelsOnly(t *testing.T) {
	data := wheelOf(t, badName, member{name: "a", data: noise(1, 200<<10)})
	w, err := wheel.Open(badName, failing{bytes.NewReader(data), 64 << 10}, int64(len(data)), layout)
	if err != nil {
		t.Fatal(err)
	}
	const advice = "use another release of the project, or build the wheel again"
	if _, err := wheel.NewLayer(context.Background(), w); err == nil || !strings.Contains(err.Error(), "disk failure") || strings.Contains(err.Error(), advice) {
		t.Errorf("err = %v", err)
	}
	if err := convert(badName, data[:1000], layout); err == nil || !strings.HasSuffix(err.Error(), advice) {
		t.Errorf("err = %v", err)
	}
	data = wheelOf(t, badName, member{name: "a", data: "x", lie: stating(func(h *zip.FileHeader) { h.CRC32++ })}, member{name: "bad-1.dist-info/RECORD", data: "a," + hashOf("x") + ",1\n"})
	if err := convert(badName, data, layout); err == nil || !strings.HasSuffix(err.Error(), advice) {
		t.Errorf("err = %v", err)
	}
}

// What pip accepts, although the standard does not.
func TestUnlistedMembersAreAccepted(t *testing.T) {
	w := openOf(t, "ok-1-py3-none-any.whl",
		member{name: "ok.py", data: "x = 1\n"}, member{name: "large.bin", data: noise(1, 50<<10)},
		member{name: "ok-1.dist-info/RECORD", data: "gone/__pycache__/x.pyc,,\nok-1.dist-info/RECORD,,\n"})
	files, _ := unpack(t, layerOf(t, w))
	checkRecords(t, files)
	if record := files[site+"/ok-1.dist-info/RECORD"].data; strings.Contains(record, "gone") {
		t.Errorf("RECORD lists a file that isn't there:\n%s", record)
	}
}

func TestLongerHashesAreChecked(t *testing.T) {
	long := sha512.Sum512([]byte("x"))
	row := "a,sha512=" + base64.URLEncoding.EncodeToString(long[:]) + ",1\n" // padded, as some have it
	for data, want := range map[string]string{"x": "", "y": `"a": its hash is sha512=`} {
		layer := layerOf(t, openOf(t, badName, member{name: "a", data: data}, member{name: "bad-1.dist-info/RECORD", data: row}))
		if got := strings.Join(layer.Warnings, "\n"); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: warnings %q, want %q", data, got, want)
		}
	}
}
