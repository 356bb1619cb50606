package runner

import (
	"bytes"
	"os"
	"testing"
)

func TestSourcesAreTheFiles(t *testing.T) {
	for name, source := range map[string][]byte{File: Source, GroupFile: Group, PeersFile: Peers, MapFile: Map, DebugFile: Debug, LocalFile: Local, AccountFile: Account} {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(source, want) {
			t.Errorf("what is embedded differs from %s", name)
		}
	}
}

func TestHashTellsFilesApart(t *testing.T) {
	seen := map[string]map[string][]byte{}
	for _, files := range []map[string][]byte{
		{"a": []byte("1")},
		{"a": []byte("2")},
		{"b": []byte("1")},
		{"a": []byte("1"), "b": nil},
		{"a": nil, "b": []byte("1")},
		{"a": []byte("1b 0\n")},
	} {
		hash := Hash(files)
		if len(hash) != hashDigits {
			t.Errorf("Hash(%q) = %q, want %d digits", files, hash, hashDigits)
		}
		if other, ok := seen[hash]; ok {
			t.Errorf("%q and %q have the same hash %s", files, other, hash)
		}
		seen[hash] = files
	}
}
