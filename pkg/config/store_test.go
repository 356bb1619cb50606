package config

import (
	"strings"
	"testing"
)

func TestCheckStore(t *testing.T) {
	tests := map[string]struct{ text, want, err string }{
		"a bucket":                {"gs://my-bucket_1.x", "gs://my-bucket_1.x", ""},
		"a slash at the end":      {"gs://bucket/", "gs://bucket", ""},
		"a prefix":                {"gs://bucket/team a/é", "gs://bucket/team a/é", ""},
		"a long name with dots":   {"gs://" + strings.Repeat("a", 63) + ".example.com", "gs://" + strings.Repeat("a", 63) + ".example.com", ""},
		"a directory":             {"file:///srv/store", "file:///srv/store", ""},
		"one to tidy up":          {"file:///srv//a/../store/", "file:///srv/store", ""},
		"one taken literally":     {"file:///srv/100%25", "file:///srv/100%25", ""},
		"nothing":                 {"gs://", "", `invalid bucket name ""`},
		"two letters":             {"gs://ab", "", "3 to 63"},
		"capitals":                {"gs://Bucket", "", `"Bucket": expected 3 to 63 lower-case letters`},
		"a dash at the end":       {"gs://bucket-", "", "at both ends"},
		"two dots":                {"gs://a..b", "", "invalid bucket name"},
		"64 letters":              {"gs://" + strings.Repeat("a", 64), "", "it has 64 characters, but at most 63 are allowed"},
		"dots and 223 letters":    {"gs://" + strings.Repeat(strings.Repeat("a", 63)+".", 3) + strings.Repeat("b", 31), "", "invalid bucket name"},
		"an address":              {"gs://192.0.2.1", "", "an IP address"},
		"an empty element":        {"gs://bucket/a//b", "", `the prefix has an element ""`},
		"two slashes at the end":  {"gs://bucket//", "", `the prefix has an element ""`},
		"an element that goes up": {"gs://bucket/../x", "", `the prefix has an element ".."`},
		"a control character":     {"gs://bucket/a\nb", "", "can't be printed"},
		"bytes that are not text": {"gs://bucket/\xff", "", "can't be printed"},
		"a relative directory":    {"file://store", "", "expected an absolute path"},
		"the home directory":      {"file://~/store", "", "expected an absolute path"},
		"the root directory":      {"file:////", "", "the root directory can't be a store"},
		"another scheme":          {"s3://bucket", "", "expected gs://BUCKET"},
		"a path":                  {"/srv/store", "", "expected gs://BUCKET"},
		"capitals in the scheme":  {"GS://bucket", "", "expected gs://BUCKET"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := checkStore(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %q, %v, want %q in the error", got, err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// A URL that is taken stays as it is when it is checked again, and names
// nothing outside of itself.
func FuzzCheckStore(f *testing.F) {
	for _, seed := range []string{"gs://bucket/a/b/", "file:///a/../b", "gs://a..b", "file://", "gs://1.2.3.4/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		url, err := checkStore(text)
		if err != nil {
			return
		}
		if again, err := checkStore(url); err != nil || again != url {
			t.Errorf("%q became %q, then %q, %v", text, url, again, err)
		}
		if strings.HasSuffix(url, "/") || strings.HasSuffix(url, "/..") || strings.Contains(url, "/../") {
			t.Errorf("%q became %q", text, url)
		}
	})
}

func TestLocalStore(t *testing.T) {
	tests := map[string]struct {
		env  variables
		want string
	}{
		"below HOME":               {variables{"HOME": "/home/me"}, "file:///home/me/.local/share/kinetic/store"},
		"XDG_DATA_HOME":            {variables{"HOME": "/home/me", "XDG_DATA_HOME": "/data/"}, "file:///data/kinetic/store"},
		"a relative XDG_DATA_HOME": {variables{"HOME": "/home/me", "XDG_DATA_HOME": "data"}, "file:///home/me/.local/share/kinetic/store"},
		"neither":                  {variables{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := LocalStore(tt.env.get)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
