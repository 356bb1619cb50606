package outputs

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

func TestAnyPath(t *testing.T) {
	for text, want := range map[string]anyPath{
		`""`:                         "",
		`"a/b\"\\\n"`:                "a/b\"\\\n",
		`"w-\udcff"`:                 "w-\xff",
		`"\udc80é\udce2\udc82/\n"`:   "\x80é\xe2\x82/\n",
		`"a\\udcff"`:                 `a\udcff`,
		`"😀\udcff"`:                  "😀\xff",
		"\"\uFFFD\\udcff\\\\ufffd\"": "\uFFFD\xff\\ufffd",
	} {
		var got anyPath
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", text, got, err, want)
		}
		if data, err := json.Marshal(got); err != nil || string(data) != text {
			t.Errorf("%q: got %s, %v; want %s", got, data, err, text)
		}
	}
	for text, want := range map[string]anyPath{`"\ud83d\udcff\uDCFF"`: "\U0001F4FF\xff", `"\ud800\udcff"`: "\U000100FF", `"\ud800"`: "\uFFFD", `"\u00e9"`: "é"} {
		var got anyPath
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", text, got, err, want)
		}
	}
	if err := json.Unmarshal([]byte(`5`), new(anyPath)); err == nil {
		t.Error("a number is taken for a path")
	}
}

// A file whose name no object can have comes back in a restore, also if its job was tidied up here.
func TestSettleOfNamesThatNoObjectCanHave(t *testing.T) {
	b := storetest.NewBucket(t)
	file := func(path anyPath, content, object string) entry {
		return entry{Path: path, Size: int64(len(content)), SHA256: hashOf(content), Mode: 0o644, Object: object}
	}
	target := anyPath("w-\xff")
	data, err := index{Version: api.Contract.Versions.OutputsIndex, Attempt: 1, Files: []entry{
		file("w-\xff", "one", "sync/0/aa"), file("w-\xfe", "two!", "sync/0/bb"), file("a\nb", "three", "sync/0/cc"), file("good", "four", "sync/0/dd"),
		{Path: "link", Link: &target},
	}, Before: []past{{file("w-\xff", "zero", "sync/0/ee"), 1}}}.encode()
	if err != nil {
		t.Fatal(err)
	}
	b.Put("a1/sync/0.json", string(data), nil)
	for name, content := range map[string]string{"aa": "one", "bb": "two!", "cc": "three", "dd": "four", "ee": "zero"} {
		b.Put("a1/sync/0/"+name, content, nil)
	}
	b.Put("a1/end.json", ended, nil)
	dir := outputsOf(t, b, api.Handle{JobID: "a1"})
	if err := dir.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"end.json", "outputs/good", "sync/0.json", "sync/0/aa", "sync/0/bb", "sync/0/cc", "sync/0/ee"}, names(t, b, "a1")); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	all, err := dir.All(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, f := range all.Files {
		listed = append(listed, f.Name)
	}
	if diff := cmp.Diff([]string{"a\nb", "good", "link"}, listed); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	indexes, _, err := dir.indexes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{`'w-\udcff'`: "sync/0/aa", `'w-\udcfe'`: "sync/0/bb", `'a\nb'`: "sync/0/cc", "'good'": "", "'link'": `'w-\udcff'`, `before 'w-\udcff'`: "sync/0/ee"}
	got := inRunner[map[string]string](t, indexes[0], "{ascii(path): e.object if e.target is None else ascii(e.target) for path, e in found.entries.items()}")
	maps.Copy(got, inRunner[map[string]string](t, indexes[0], "{'before ' + ascii(past.path): past.entry.object for past in found.before}"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the index (-want +got):\n%s", diff)
	}
}
