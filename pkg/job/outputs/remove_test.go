package outputs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

// Of several hosts, one of which was killed, a restore brings what files were before: what was removed is missed by no restore.
func TestRemovalOfWhatWasBefore(t *testing.T) {
	b := storetest.NewBucket(t)
	at := func(second int) time.Time { return time.Date(2026, 11, 27, 10, 0, second, 0, time.UTC) }
	file := func(path anyPath, content, object string, since int) entry {
		return entry{Path: path, Size: int64(len(content)), SHA256: hashOf(content), Mode: 0o644, Object: object, Since: at(since).UnixNano()}
	}
	until := func(e entry, second int) past { return past{e, at(second).UnixNano()} }
	for number, x := range []index{
		{Ended: true, At: at(45).Format(time.RFC3339Nano), Files: []entry{file("ckpts/step-400", "400", "sync/0/aa", 2), file("ckpts/step-600", "600", "sync/0/cc", 30), file("last.pt", "new", "sync/0/dd", 30)},
			Before: []past{until(file("ckpts/step-500", "500", "sync/0/bb", 5), 30), until(file("last.pt", "old", "sync/0/ee", 5), 30)}},
		{At: at(15).Format(time.RFC3339Nano), Files: []entry{file("log-1.txt", "log", "sync/1/aa", 1)}},
	} {
		x.Version, x.Attempt = api.Contract.Versions.OutputsIndex, 1
		data, err := x.encode()
		if err != nil {
			t.Fatal(err)
		}
		b.Put(store.Sync("a1", number), string(data), nil)
	}
	for name, content := range map[string]string{"0/aa": "400", "0/bb": "500", "0/cc": "600", "0/dd": "new", "0/ee": "old", "1/aa": "log"} {
		b.Put("a1/sync/"+name, content, nil)
	}
	b.Put("a1/end.json", `{"version":1,"state":"FAILED","reason":"Killed","by":"runner","finished":"2020-01-01T00:00:00Z"}`, nil)
	dir := outputsOf(t, b, api.Handle{JobID: "a1", Hosts: 2})
	for _, path := range []string{"ckpts/step-500", "last.pt"} {
		if err := dir.Settle(t.Context()); err != nil { // as the command does
			t.Fatal(err)
		}
		files, err := dir.List(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := dir.Remove(t.Context(), files, true, func(int, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"end.json", "outputs/ckpts/step-400", "outputs/ckpts/step-600", "outputs/log-1.txt", "sync/0.json", "sync/1.json"}
	if diff := cmp.Diff(want, names(t, b, "a1")); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	indexes, _, err := dir.indexes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if before := indexes[0].Before; len(before) > 0 {
		t.Errorf("the index names %v", before)
	}
}

// A directory goes with the last file in it, on whichever host: an empty checkpoint-500 would be taken for the newest checkpoint.
func TestRemovalOfADirectory(t *testing.T) {
	b := storetest.NewBucket(t)
	file := func(path anyPath, content, object string) entry {
		return entry{Path: path, Size: int64(len(content)), SHA256: hashOf(content), Mode: 0o644, Object: object}
	}
	folder := func(path anyPath) entry { return entry{Path: path, Mode: 0o755, Directory: true} }
	for number, files := range [][]entry{
		{folder("checkpoint-400"), file("checkpoint-400/0", "400", "sync/0/aa"), folder("checkpoint-500"), folder("checkpoint-500/opt"), file("checkpoint-500/opt/0", "500", "sync/0/bb"), folder("empty")},
		{folder("checkpoint-400"), folder("checkpoint-500"), file("checkpoint-500/1", "500, too", "sync/1/aa")},
	} {
		data, err := index{Version: api.Contract.Versions.OutputsIndex, Attempt: 1, Ended: true, Files: files}.encode()
		if err != nil {
			t.Fatal(err)
		}
		b.Put(store.Sync("a1", number), string(data), nil)
	}
	for name, content := range map[string]string{"0/aa": "400", "0/bb": "500", "1/aa": "500, too"} {
		b.Put("a1/sync/"+name, content, nil)
	}
	b.Put("a1/end.json", ended, nil)
	dir := outputsOf(t, b, api.Handle{JobID: "a1", Hosts: 2})
	for _, step := range []struct {
		at   string
		want [][]anyPath
	}{
		{"checkpoint-500/opt", [][]anyPath{{"checkpoint-400", "checkpoint-400/0", "checkpoint-500", "empty"}, {"checkpoint-400", "checkpoint-500", "checkpoint-500/1"}}},
		{"checkpoint-500", [][]anyPath{{"checkpoint-400", "checkpoint-400/0", "empty"}, {"checkpoint-400"}}},
	} {
		files, err := dir.List(t.Context(), step.at)
		if err != nil {
			t.Fatal(err)
		}
		if err := dir.Remove(t.Context(), files, true, func(int, int) {}); err != nil {
			t.Fatal(err)
		}
		indexes, _, err := dir.indexes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var left [][]anyPath
		for _, x := range indexes {
			var paths []anyPath
			for _, e := range x.Files {
				paths = append(paths, e.Path)
			}
			left = append(left, paths)
		}
		if diff := cmp.Diff(step.want, left); diff != "" {
			t.Errorf("after %s, the indexes name (-want +got):\n%s", step.at, diff)
		}
	}
}
