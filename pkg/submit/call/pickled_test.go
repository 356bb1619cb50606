package call

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

const (
	onePickle = "\x80\x05K\x01."
	ours      = `{"kinetic_payload":1,"python":"3.11.7","cloudpickle":"3.1.0","function":"train","modules":{"cloudpickle/__init__.py":"x = 1\n"}}` + "\n"
)

func writePayload(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "call.pkl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func TestRead(t *testing.T) {
	large := onePickle[:2] + strings.Repeat("x", 1<<20) + "."
	for name, tt := range map[string]struct{ text, function, python string }{
		"a payload":                      {ours + onePickle, "train", "3.11"},
		"a pickle alone":                 {onePickle, "payload", ""},
		"a large one":                    {ours + large, "train", "3.11"},
		"a version that is not final":    {`{"kinetic_payload":1,"python":"3.14.0rc1+","function":"f"}` + "\n" + onePickle, "f", "3.14"},
		"a version without its patch":    {`{"kinetic_payload":1,"python":"3.9","function":"f"}` + "\n" + onePickle, "f", "3.9"},
		"a function of any name":         {`{"kinetic_payload":1,"python":"3.9","function":"<lambda> ü\n"}` + "\n" + onePickle, "<lambda> ü\n", "3.9"},
		"a function without a name":      {`{"kinetic_payload":1,"python":"3.9"}` + "\n" + onePickle, "payload", "3.9"},
		"members of a later client":      {`{"kinetic_payload":1,"python":"3.9","more":[1]}` + "\n" + onePickle, "payload", "3.9"},
		"a header as large as it may be": {padded(api.Contract.Limits.PayloadHeader) + "\n" + onePickle, "payload", "3.9"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writePayload(t, tt.text)
			got, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			want := Payload{Payload: api.Payload{SHA256: sum(tt.text), Size: int64(len(tt.text)), Python: tt.python}, Path: path, Function: tt.function}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadArguments(t *testing.T) {
	got, err := Read(writePayload(t, `{"kinetic_payload":1,"python":"3.9","arguments":[{"name":"a","value":null},{"name":"b","value":"x"},{"name":"c"}]}`+"\n"+onePickle))
	want := []Argument{{"a", json.RawMessage("null")}, {"b", json.RawMessage(`"x"`)}, {"c", nil}}
	if diff := cmp.Diff(want, got.Arguments); diff != "" || err != nil {
		t.Errorf("%v; -want +got:\n%s", err, diff)
	}
}

// padded returns a header of a size.
func padded(size int) string {
	const before, after = `{"kinetic_payload":1,"python":"3.9","pad":"`, `"}`
	return before + strings.Repeat("x", size-len(before)-len(after)-1) + after
}

func TestReadRefuses(t *testing.T) {
	with := func(members string) string {
		return `{"kinetic_payload":1,"python":"3.9",` + members + "}\n" + onePickle
	}
	module := func(name string) string { return with(`"modules":{"` + name + `":""}`) }
	for name, tt := range map[string]struct{ text, want string }{
		"an empty file":           {"", "the file is empty"},
		"another file":            {"import os\n", "not a payload: it begins with neither a header nor a pickle"},
		"other JSON":              {`{"a":1}` + "\n" + onePickle, `its header has no version ("kinetic_payload")`},
		"JSON of several lines":   {"{\n\"kinetic_payload\":1}\n" + onePickle, "its first line is not the JSON of a header"},
		"a newer version":         {`{"kinetic_payload":2,"python":"4.1"}` + "\n" + onePickle, "version 2, but this kubectl kinetic reads only up to 1: upgrade kubectl kinetic"},
		"a negative version":      {`{"kinetic_payload":-1}` + "\n" + onePickle, "version -1"},
		"no version of Python":    {`{"kinetic_payload":1}` + "\n" + onePickle, `its header names no version of Python 3: ""`},
		"Python 2":                {`{"kinetic_payload":1,"python":"2.7.18"}` + "\n" + onePickle, `names no version of Python 3: "2.7.18"`},
		"a header alone":          {strings.TrimSuffix(ours, "\n"), "it has a header and no pickle"},
		"a header and an end":     {ours, "it has a header and no pickle"},
		"a header that is large":  {padded(api.Contract.Limits.PayloadHeader+1) + "\n" + onePickle, "the header takes more than 1024 KiB"},
		"text after the header":   {ours + "hello.", "no pickle of protocol 2 or later follows its header"},
		"a pickle cut off":        {ours + onePickle[:4], "its pickle is cut off"},
		"a pickle of one byte":    {"\x80", "its pickle is cut off"},
		"a protocol of later":     {"\x80\x06K\x01.", "its pickle has protocol 6: expected 5 or less"},
		"a module elsewhere":      {module("../x.py"), `its header has the module "../x.py": expected a relative path`},
		"a module at the root":    {module("/x.py"), "expected a relative path"},
		"a module with backslash": {module(`a\\x.py`), "expected a relative path"},
		"a module on a drive":     {module(`C:x.py`), "expected a relative path"},
		"a module without a name": {module(""), "expected a relative path"},
		"a module that is none":   {module("a/x.so"), "expected a file that ends in .py"},
		"modules that are none":   {with(`"modules":{"x.py":1}`), "its first line is not the JSON of a header"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(writePayload(t, tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "none") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Read(t.TempDir()); err == nil || err.Error() != "not a regular file" {
		t.Errorf("a directory: %v", err)
	}
}

// An upload that starts over counts its bytes once.
func TestOpenCounts(t *testing.T) {
	p, err := Read(writePayload(t, ours+onePickle))
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	open := p.Open(func(more int64) { total += more })
	for range 2 {
		r, err := open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || string(text) != ours+onePickle || total != p.Size {
			t.Errorf("read %q and counted %d, %v", text, total, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{ours + onePickle, onePickle, ours, "{}\n", `{"kinetic_payload":1,"python":"3.9","modules":{"a/../b.py":""}}` + "\n" + onePickle, "\x80"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := writePayload(t, string(text))
		p, err := Read(path)
		if err != nil {
			return
		}
		if p.SHA256 != sum(string(text)) || p.Size != int64(len(text)) || p.Function == "" || text[len(text)-1] != '.' {
			t.Errorf("%q was read as %+v", text, p)
		}
	})
}
