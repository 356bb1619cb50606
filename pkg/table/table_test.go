package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func readAll(answer io.Reader, columns ...string) (rows [][]string, err error) {
	_, err = Read(answer, columns, func(row []string) { rows = append(rows, slices.Clone(row)) })
	return rows, err
}

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
		"a long text":     {head + `"rows":[{"cells":["` + strings.Repeat(`\"\\`, 40_000) + `",0,"\\"]}]}`, [][]string{{`\`, strings.Repeat(`"\`, 40_000), "", ""}}},
		"white space":     {strings.NewReplacer("{", " {\n", ":", "\t:\r ", ",", " ,").Replace(head) + " \"rows\" : [ { \"cells\" : [ \"a\" , 0 , \"5m\" ] } ] }", [][]string{{"5m", "a", "", ""}}},
		"in other order":  {`{"columnDefinitions":[{"name":"Name"}],"rows":[{"object":{"kind":"x"},"cells":["a"]}],"kind":"Table"}`, [][]string{{"", "a", "", ""}}},
		"without columns": {`{"kind":"Table","rows":[{"cells":["a"]}]}`, [][]string{{"", "", "", ""}}},
	} {
		for way, answer := range map[string]io.Reader{"at once": strings.NewReader(tt.answer), "by bytes": iotest.OneByteReader(strings.NewReader(tt.answer))} {
			t.Run(name+" "+way, func(t *testing.T) {
				got, err := readAll(answer, columns...)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

func TestVersion(t *testing.T) {
	for answer, want := range map[string]string{
		`{"kind":"Table","metadata":{"resourceVersion":"7","continue":"x"},"columnDefinitions":[],"rows":[]}`: "7",
		`{"kind":"Table","rows":[]}`: "",
	} {
		if got, err := Read(strings.NewReader(answer), nil, func([]string) {}); err != nil || got != want {
			t.Errorf("%s: got %q, %v", answer, got, err)
		}
	}
}

// A row is passed on while the server still sends others.
func TestRowsComeAtOnce(t *testing.T) {
	server, answer := io.Pipe()
	rows := make(chan string)
	read := make(chan error)
	go func() {
		_, err := Read(server, []string{"Name"}, func(row []string) { rows <- row[0] })
		read <- err
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
		`{"kind":"JobList","items":[]}`:        `the server sent kind "JobList"`,
		`{}`:                                   `the server sent kind ""`,
		`{"kind":"Table","rows":[`:             cut,
		`{"kind":"Table","rows":[]`:            cut,
		`{"kind":"Table","rows":[{"cell`:       cut,
		`{"kind":"Table","metadata`:            cut,
		"":                                     cut,
		`{"kind":"Table","rows":[{"cells":["a`: cut,
		`{"kind":"Table","rows":[{"cells":["\`: cut,
		"no such page":                         `unexpected "no"`,
		"<html>":                               `unexpected '<'`,
		`{"kind":"Table"]`:                     `unexpected ']'`,
		`{"kind" "Table"}`:                     `unexpected '"'`,
		`{"kind":"Table","rows":7}`:            `unexpected '7'`,
	} {
		_, err := Read(strings.NewReader(answer), nil, func([]string) {})
		if err == nil || err.Error() != "reading a table: "+want {
			t.Errorf("%q: got %v, want %s", answer, err, want)
		}
	}
}

// FuzzRead reads a text from a table that encoding/json has written, and the text itself.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "a", `\"`, `"\`, "<&>\u2028\x00\xff", `{"kind":"Table","columnDefinitions":[],"rows":[{"cells":["a",[{}],null]}]}`, "[[", "{", "n", `"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = readAll(strings.NewReader(text), "Name") // must not panic
		answer, err := json.Marshal(map[string]any{"kind": "Table", text: text, "columnDefinitions": []any{map[string]any{"name": "Name", text: 1}, nil, map[string]any{"name": "Age"}},
			"rows": []any{map[string]any{"cells": []any{text, map[string]any{text: []any{text}}, text}, "object": text}}})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains([]string{"kind", "metadata", "columnDefinitions", "rows"}, text) {
			return
		}
		got, err := readAll(bytes.NewReader(answer), "Name", "Age")
		if len(got) != 1 || err != nil {
			t.Fatalf("%s: got %q, %v", answer, got, err)
		}
		var want string
		if quoted, err := json.Marshal(text); err != nil || json.Unmarshal(quoted, &want) != nil || got[0][0] != want || got[0][1] != want {
			t.Errorf("%s: got %q, want %q", answer, got, want)
		}
	})
}

// BenchmarkRead reads the table of 5,000 Jobs.
func BenchmarkRead(b *testing.B) {
	answer := `{"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Status"},{"name":"Completions"},{"name":"Age"}],"rows":[`
	for i := range 5000 {
		answer += fmt.Sprintf(`{"cells":["kinetic-cpu-train-20260101-000000-%07x","Running","0/1","5d7h","worker","python:3.12","batch.kubernetes.io/controller-uid=5e1b3b06-3686-4063-8b15-37b78ce0ee9f"],"object":null},`, i)
	}
	answer = strings.TrimSuffix(answer, ",") + "]}"
	b.SetBytes(int64(len(answer)))
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		if _, err := Read(strings.NewReader(answer), []string{"Name", "Status", "Completions", "Age"}, func([]string) { rows++ }); err != nil || rows != 5000 {
			b.Fatalf("%d rows, %v", rows, err)
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
