package logs

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestRest(t *testing.T) {
	const a, b, c, d = "2026-01-01T00:00:01.000000Z a\n", "2026-01-01T00:00:02.000000Z bcd\n", "2026-01-01T00:00:02.000000Z \n", "2026-01-01T00:00:03.000000Z no end"
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		store.LogPart("job-1", 0, 1, 1): "2026-01-01T00:00:09.000000Z another attempt\n",
		store.LogPart("job-1", 0, 2, 1): a + b[:10],
		store.LogPart("job-1", 0, 2, 2): b[10:] + c,
		store.LogPart("job-1", 0, 2, 3): d,
	} {
		if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		point  Point
		want   string
		beyond bool // what there is
	}{
		"all":                          {Point{}, a + b + c + d, false},
		"after a line":                 {Point{Lines: 1}, b + c + d, false},
		"after a part":                 {Point{Lines: 3}, d, false},
		"in a line":                    {Point{Lines: 1, Bytes: 2}, "d\n" + c + d, false},
		"in the last line":             {Point{Lines: 3, Bytes: 2}, " end", false},
		"after the last line":          {Point{Lines: 3, Bytes: 6}, "", false},
		"more than there is":           {Point{Lines: 7}, "", true},
		"more of a line than there is": {Point{Lines: 3, Bytes: 70}, "", true},
		"the last line":                {Point{Tail: 1}, d, false},
		"the last lines":               {Point{Tail: 3}, b + c + d, false},
		"the last lines, or all":       {Point{Tail: 9}, a + b + c + d, false},
		"after the first part":         {Point{Part: 1}, b[10:] + c + d, false},
		"after the last part":          {Point{Part: 3}, "", false},
		"after a part and a line":      {Point{Part: 2, Lines: 1}, "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			archive := Archive{Store: s, JobID: "job-1"}
			archive.numbers.Store("", 2)
			end, err := archive.Rest(t.Context(), tt.point, &out)
			if err != nil {
				t.Fatal(err)
			}
			want := Point{Part: 3}
			if tt.beyond {
				want = tt.point
				want.searched = 3
			}
			if end != want {
				t.Errorf("came to %+v, want %+v", end, want)
			}
			if again, err := archive.Rest(t.Context(), end, io.Discard); err != nil || again != end {
				t.Errorf("came to %+v, then to %+v, %v", end, again, err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// If a log does not reach the point, it is read again only when it has grown.
func TestRestSearchesWhatHasGrown(t *testing.T) {
	files, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &countingStore{Store: files}
	archive := Archive{Store: s, JobID: "job-1"}
	archive.numbers.Store("", 1)
	p := Point{Lines: 2}
	for i, step := range []struct {
		part, want string
		opened     int
	}{
		{part: "2026-01-01T00:00:01.000000Z a\n", opened: 1},
		{opened: 1},
		{part: "2026-01-01T00:00:02.000000Z b\n2026-01-01T00:00:03.000000Z c\n", want: "2026-01-01T00:00:03.000000Z c\n", opened: 3},
		{opened: 3},
	} {
		if step.part != "" {
			if err := files.Create(t.Context(), store.LogPart("job-1", 0, 1, i+1), strings.NewReader(step.part), nil); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		if p, err = archive.Rest(t.Context(), p, &out); err != nil || out.String() != step.want || len(s.opened) != step.opened {
			t.Errorf("step %d: got %q, %d objects read, %v; want %q, %d", i, &out, len(s.opened), err, step.want, step.opened)
		}
	}
}
