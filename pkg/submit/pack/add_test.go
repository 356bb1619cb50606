package pack_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

func TestAdd(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"b.py": "x = 1\n"})
	p, s := plan(t, pack.Options{Root: root}), openStore(t)
	blobs := slices.Clone(p.Index.Blobs)
	if err := p.Add(map[string]string{"a/METADATA": "Name: a\n", "c/entry_points.txt": "[g]\n"}); err != nil {
		t.Fatal(err)
	}
	stats := upload(t, p, s)
	got, index := unpack(t, s, p.SHA256)
	want := map[string]string{"b.py": "x = 1\n", "a/METADATA": "Name: a\n", "c/entry_points.txt": "[g]\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(blobs, index.Blobs[:len(index.Blobs)-1]); diff != "" {
		t.Errorf("the other blobs changed (-want +got):\n%s", diff)
	}
	var bytes int64
	for _, text := range want {
		bytes += int64(len(text))
	}
	if p.Bytes != bytes || stats.Bytes != p.StoredBytes || stats.NewBytes != p.StoredBytes {
		t.Errorf("%d bytes, want %d; sent %+v of %d", p.Bytes, bytes, stats, p.StoredBytes)
	}
	if before := p.SHA256; p.Add(nil) != nil || p.SHA256 != before {
		t.Error("adding nothing changed the plan")
	}
}
