package table

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	columns := []string{"Age", "Name", "Restarts", "Nothing"}
	const head = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},
 "columnDefinitions":[{"name":"Name","type":"string","format":"name"},{"name":"Restarts","type":"integer"},{"name":"Age","type":"string"}],`
	for name, tt := range map[string]struct {
		answer string
		want   [][]string
	}{
		"some":            {head + `"rows":[{"cells":["a",0,"5m"],"object":null},{"cells":["b"]}]}`, [][]string{{"5m", "a", "", ""}, {"", "b", "", ""}}},
		"none":            {head + `"rows":[]}`, nil},
		"none, as null":   {head + `"rows":null}`, nil},
		"no text":         {head + `"rows":[{"cells":["a",0,"5m"]},{"cells":[null,{"x":[1]},7]},{}]}`, [][]string{{"5m", "a", "", ""}, {"", "", "", ""}, {"", "", "", ""}}},
		"escapes":         {head + `"rows":[{"cells":["\u003cunknown\u003e",0,"a\"b\\"]}]}`, [][]string{{`a"b\`, "<unknown>", "", ""}}},
		"in other order":  {`{"columnDefinitions":[{"name":"Name"}],"rows":[{"object":{"kind":"x"},"cells":["a"]}],"kind":"Table"}`, [][]string{{"", "a", "", ""}}},
		"without columns": {`{"kind":"Table","rows":[{"cells":["a"]}]}`, [][]string{{"", "", "", ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][]string
			if err := Read(strings.NewReader(tt.answer), columns, func(row []string) { got = append(got, slices.Clone(row)) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A row is passed on while the server still sends others.
func TestRowsComeAtOnce(t *testing.T) {
	server, answer := io.Pipe()
	rows := make(chan string)
	read := make(chan error)
	go func() {
		read <- Read(server, []string{"Name"}, func(row []string) { rows <- row[0] })
	}()
	for _, part := range []string{`{"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["a"]},`, `{"cells":["b"]}`} {
		if _, err := io.WriteString(answer, part); err != nil {
			t.Fatal(err)
		}
		<-rows
	}
	if err := answer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("of half a table: %v", err)
	}
}

func TestOtherAnswersAreErrors(t *testing.T) {
	const cut = "unexpected EOF"
	for answer, want := range map[string]string{
		`{"kind":"JobList","items":[]}`:  `the server sent kind "JobList"`,
		`{}`:                             `the server sent kind ""`,
		`{"kind":"Table","rows":[`:       cut,
		`{"kind":"Table","rows":[]`:      cut,
		`{"kind":"Table","rows":[{"cell`: cut,
		`{"kind":"Table","metadata`:      cut,
		"":                               cut,
		"no such page":                   "invalid character 'o' in literal null (expecting 'u')",
	} {
		err := Read(strings.NewReader(answer), nil, func([]string) {})
		if err == nil || err.Error() != "reading a table: "+want {
			t.Errorf("%q: got %v, want %s", answer, err, want)
		}
	}
}

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	for column, want := range map[string]time.Duration{
		"7s": 7 * time.Second, "5m3s": 5*time.Minute + 3*time.Second, "120m": 2 * time.Hour, "5d7h": 5*day + 7*time.Hour, "2y13d": 743 * day, "<unknown>": 0, "": 0,
	} {
		if got := Age(column); got != want {
			t.Errorf("%q is %v, want %v", column, got, want)
		}
	}
}
