package apiserver

import (
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTable(t *testing.T) {
	const first = `{"kind":"Table","metadata":{"continue":"more"},"columnDefinitions":[{"name":"Name"},{"name":"Ready"},{"name":"Age"}],"rows":[{"cells":["a",1,"5d"]},{"cells":["b",null]}]}`
	const last = `{"kind":"Table","columnDefinitions":[{"name":"Age"},{"name":"Name"}],"rows":[{"cells":["3s","c"],"object":null}]}`
	var asked []map[string]string
	pages := func(parameters map[string]string) ([]byte, error) {
		asked = append(asked, maps.Clone(parameters))
		if parameters["continue"] == "more" {
			return []byte(last), nil
		}
		return []byte(first), nil
	}
	rows, err := ReadTable(pages, "Name", "Ready", "Age", "Nonsense")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a", "1", "5d", ""}, {"b", "", "", ""}, {"c", "", "3s", ""}}, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	want := []map[string]string{
		{"includeObject": "None", "limit": "500", "resourceVersion": "0"},
		{"includeObject": "None", "limit": "500", "continue": "more"},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestReadTableRejects(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		err    error
		want   string
	}{
		"no answer":     {"", io.ErrUnexpectedEOF, "unexpected EOF"},
		"a cut answer":  {`{"kind":"Table","rows":[`, nil, "reading a table: unexpected end of JSON input"},
		"another kind":  {`{"kind":"JobList"}`, nil, `reading a table: the server sent kind "JobList"`},
		"something odd": {`{"kind":"Table","rows":7}`, nil, "reading a table: json: cannot unmarshal number"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := ReadTable(func(map[string]string) ([]byte, error) { return []byte(tt.answer), tt.err }, "Name")
			if rows != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("got %v, %v; want %q", rows, err, tt.want)
			}
		})
	}
}
