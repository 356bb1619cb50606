package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// testFile is a file on disk as a walk would find it.
func testFile(t *testing.T, text string) file {
	t.Helper()
	f := file{rel: "data/x", abs: filepath.Join(t.TempDir(), "x")}
	if err := os.WriteFile(f.abs, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(f.abs)
	if err != nil {
		t.Fatal(err)
	}
	f.stamp = stampOf(info)
	return f
}

// meddler is a context that does something while a file is being read.
type meddler struct {
	context.Context
	do func()
}

func (m *meddler) Err() error {
	m.do()
	return m.Context.Err()
}

func isChanged(err error) bool {
	var fileErr *FileError
	return errors.As(err, &fileErr) && fileErr.Path == "data/x" && fileErr.Problem == "it changed while it was being packaged"
}

func TestChangesWhileReading(t *testing.T) {
	const text = "some text"
	for name, meddle := range map[string]func(file string) error{
		"appended":     func(file string) error { return os.WriteFile(file, []byte(text+"more"), 0o644) },
		"cut short":    func(file string) error { return os.Truncate(file, 3) },
		"another time": func(file string) error { return os.Chtimes(file, time.Time{}, time.Unix(1, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := testFile(t, text)
			ctx := &meddler{t.Context(), func() {
				if err := meddle(f.abs); err != nil {
					t.Error(err)
				}
			}}
			if err := hashFile(ctx, &f, make([]byte, 4)); !isChanged(err) {
				t.Errorf("hashFile: error %v, want one that says that the file changed", err)
			}
		})
	}
}

func TestCopyVerified(t *testing.T) {
	const text = "some text"
	for name, test := range map[string]struct {
		change func(file string) error
		want   string // what may have been written before the change was seen
		bad    bool
	}{
		"as hashed":       {func(string) error { return nil }, text, false},
		"touched":         {func(file string) error { return os.Chtimes(file, time.Time{}, time.Unix(1, 0)) }, text, false},
		"same size":       {func(file string) error { return os.WriteFile(file, []byte("SOME TEXT"), 0o644) }, "SOME TEXT", true},
		"much longer":     {func(file string) error { return os.WriteFile(file, bytes.Repeat([]byte("x"), 1<<20), 0o644) }, "xxxxxxxxxx", true},
		"cut short":       {func(file string) error { return os.Truncate(file, 4) }, "some", true},
		"deleted":         {os.Remove, "", true},
		"now a directory": {func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := testFile(t, text)
			buf := make([]byte, 64)
			if err := hashFile(t.Context(), &f, buf); err != nil {
				t.Fatal(err)
			}
			if f.digest != sha256.Sum256([]byte(text)) {
				t.Errorf("the digest is %x", f.digest)
			}
			if err := test.change(f.abs); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := copyVerified(t.Context(), &f, &out, buf)
			if (err != nil) != test.bad || out.String() != test.want {
				t.Errorf("copyVerified wrote %q with error %v, want %q and error %v", out.String(), err, test.want, test.bad)
			}
		})
	}
}

func TestOnlyAnEqualStampSavesReading(t *testing.T) {
	content := sha256.Sum256([]byte("some text"))
	remembered := digest{1, 2, 3} // not the file's, so that we see where a digest came from
	for name, test := range map[string]struct {
		edit func(*stamp)
		want digest
	}{
		"equal":           {func(*stamp) {}, remembered},
		"another size":    {func(s *stamp) { s.Size++ }, content},
		"another mtime":   {func(s *stamp) { s.MTime++ }, content},
		"another ctime":   {func(s *stamp) { s.CTime++ }, content},
		"another inode":   {func(s *stamp) { s.Inode++ }, content},
		"another content": {func(s *stamp) { *s = stamp{} }, content},
	} {
		t.Run(name, func(t *testing.T) {
			files := []file{testFile(t, "some text")}
			file := knownFile{Stamp: files[0].stamp, Digest: remembered}
			test.edit(&file.Stamp)
			known := known{Files: map[string]knownFile{"data/x": file}}
			if err := hashFiles(t.Context(), files, known); err != nil {
				t.Fatal(err)
			}
			if files[0].digest != test.want {
				t.Errorf("digest %x, want %x", files[0].digest, test.want)
			}
		})
	}
}

// A write in the same tick of the file system's clock leaves the stamp as it
// was. So nothing is remembered about a file that was written a moment ago.
func TestFreshFilesAreNotRemembered(t *testing.T) {
	f := testFile(t, "some text")
	future := time.Now().Add(time.Hour) // whatever this machine's speed, that is fresh
	if err := os.Chtimes(f.abs, future, future); err != nil {
		t.Fatal(err)
	}
	if err := hashFile(t.Context(), &f, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	if s := remember([]file{f}, nil); len(s.Files) > 0 {
		t.Errorf("a fresh file was remembered: %v", s.Files)
	}
	f.settled = true
	if s := remember([]file{f}, nil); s.Files["data/x"].Digest != f.digest {
		t.Errorf("a settled file was not remembered: %v", s.Files)
	}
}

func TestSettledAt(t *testing.T) {
	now := time.Unix(1_000_000, 500_000_000)
	at := func(ago time.Duration) int64 { return now.Add(-ago).UnixNano() }
	whole := time.Unix(999_999, 0).UnixNano() // 1.5 s ago
	for name, test := range map[string]struct {
		stamp stamp
		want  bool
	}{
		"long ago":                           {stamp{MTime: at(time.Hour), CTime: at(time.Hour)}, true},
		"just now":                           {stamp{MTime: at(0), CTime: at(0)}, false},
		"within a tick":                      {stamp{MTime: at(50 * time.Millisecond)}, false},
		"more than a tick ago":               {stamp{MTime: at(51 * time.Millisecond)}, true},
		"mtime set back":                     {stamp{MTime: at(time.Hour), CTime: at(time.Millisecond)}, false},
		"in the future":                      {stamp{MTime: at(-time.Hour), CTime: at(time.Hour)}, false},
		"whole seconds, within their tick":   {stamp{MTime: whole, CTime: whole}, false},
		"whole seconds, long ago":            {stamp{MTime: whole - 1e9, CTime: whole - 1e9}, true},
		"whole seconds set by an archiver":   {stamp{MTime: whole, CTime: at(time.Second)}, true},
		"whole seconds and nothing else":     {stamp{MTime: whole}, false},
		"the clock went back, file is ahead": {stamp{MTime: at(-time.Millisecond), CTime: at(-time.Millisecond)}, false},
	} {
		if got := test.stamp.settledAt(now); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// The parts of a large file must all be of the file that the walk saw.
func TestPartOfAChangedFile(t *testing.T) {
	f := testFile(t, "some text")
	f.parts = make([]digest, 1)
	if err := hashPart(t.Context(), &f, 0, make([]byte, 4)); err != nil || f.parts[0] != sha256.Sum256([]byte("some text")) {
		t.Errorf("hash %x, error %v", f.parts[0], err)
	}
	if err := os.Chtimes(f.abs, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := hashPart(t.Context(), &f, 0, make([]byte, 4)); !isChanged(err) {
		t.Errorf("error %v, want one that says that the file changed", err)
	}
}
