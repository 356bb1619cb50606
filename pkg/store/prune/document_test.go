package prune

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocuments(t *testing.T) {
	a, b := sha(10), sha(11)
	list := `[{"sha256":"` + a + `","size":3},{"size":4,"encoding":"gzip","sha256":"` + b + `"}]`
	both := []string{a, b}
	for name, tt := range map[string]struct {
		kind *kind
		text string
		want []string
		err  string
	}{
		"an index":                  {indexes(), `{"version":2,"blobs":` + list + `,"files":[{"path":"x","blob":0}]}`, both, ""},
		"an index of version 1":     {indexes(), `{"version":1,"blobs":` + list + `,"files":[]}`, both, ""},
		"in another order":          {indexes(), `{"files":[{"path":"x","parts":[0,1]}],"names":null,"blobs":` + list + `,"version":2}`, both, ""},
		"a newer index":             {indexes(), `{"version":3,"blobs":` + list + `}`, both, "version 3"},
		"without a version":         {indexes(), `{"blobs":` + list + `}`, both, "not a valid index"},
		"without blobs":             {indexes(), `{"version":2,"blobs":null,"files":null}`, nil, ""},
		"a data set":                {dataSets(), `{"version":1,"files":2,"shards":` + list + `}`, both, ""},
		"a newer data set":          {dataSets(), `{"version":2,"shards":[]}`, nil, "version 2"},
		"a list of packages":        {environments(), `{"version":1,"python":"3.12","wheels":` + list + `}`, both, ""},
		"requirements":              {environments(), `{"version":1,"requirements":["numpy"],"options":[["x"],{"y":1}]}`, nil, ""},
		"a wheel without a hash":    {environments(), `{"version":1,"wheels":[{"file":"x.whl"}]}`, nil, "not a SHA-256"},
		"not a list":                {indexes(), `{"version":2,"blobs":{}}`, nil, "expected a list"},
		"not an object":             {indexes(), `[]`, nil, "expected"},
		"nothing":                   {indexes(), ``, nil, "unexpected EOF"},
		"cut off in the list":       {indexes(), `{"version":2,"blobs":[{"sha256":"` + a + `"}`, []string{a}, "EOF"},
		"cut off before the list":   {indexes(), `{"version":2,"files":[`, nil, "EOF"},
		"cut off without a list":    {indexes(), `{"version":2`, nil, "EOF"},
		"something else altogether": {indexes(), "PK\x03\x04", nil, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write([]byte(tt.text)); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			for form, text := range map[string]string{"plain": tt.text, "compressed": packed.String()} {
				var got []string
				err := tt.kind.read(strings.NewReader(text), func(sha256 string) { got = append(got, sha256) })
				if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%s: got %v, want %q", form, err, tt.err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got)\n%s", form, diff)
				}
			}
		})
	}
}
