package amount

import "testing"

func TestCache(t *testing.T) {
	const wrong = ": expected a size of at least 1Mi, such as 500Mi or 2Gi, or 0 for no cache"
	for value, want := range map[string]struct {
		bytes int64
		err   string
	}{
		"": {bytes: -1}, "0": {}, "2Gi": {bytes: 2 << 30}, "500M": {bytes: 500_000_000},
		"2": {err: `--cache-size "2"` + wrong}, "2GB": {err: `--cache-size "2GB"` + wrong}, "-1Gi": {err: `--cache-size "-1Gi"` + wrong},
	} {
		got, err := Cache("--cache-size", value)
		if text := textOf(err); got != want.bytes || text != want.err {
			t.Errorf("%q: got %d, %q, want %d, %q", value, got, text, want.bytes, want.err)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
