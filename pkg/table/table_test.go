package table

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	const answer = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},
 "columnDefinitions":[{"name":"Name","type":"string","format":"name"},{"name":"Restarts","type":"integer"},{"name":"Age","type":"string"}],
 "rows":[{"cells":["a",0,"5m"],"object":null},{"cells":["b"]}]}`
	table, err := Read(strings.NewReader(answer))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for row := range table.Rows("Age", "Name", "Restarts", "Nothing") {
		got = append(got, slices.Clone(row))
	}
	if diff := cmp.Diff([][]string{{"5m", "a", "", ""}, {"", "b", "", ""}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOtherAnswersAreErrors(t *testing.T) {
	for answer, want := range map[string]string{
		`{"kind":"JobList","items":[]}`: `expected a table, the server sent kind "JobList"`,
		`{"kind":"Table","rows":[`:      "reading a table: unexpected EOF",
		"":                              "reading a table: EOF",
	} {
		if _, err := Read(strings.NewReader(answer)); err == nil || err.Error() != want {
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
