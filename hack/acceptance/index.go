package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
)

// serveIndex serves a package index (PEP 503) with made-up versions of six on the loopback: enough for the step
// image, where there is no way to PyPI.
func serveIndex(versions ...string) (*httptest.Server, error) {
	wheels := map[string][]byte{}
	page := ""
	for _, version := range versions {
		name := "six-" + version + "-py3-none-any.whl"
		data, err := wheel(version)
		if err != nil {
			return nil, err
		}
		wheels[name] = data
		page += fmt.Sprintf("<a href=\"/files/%s#sha256=%x\">%[1]s</a>\n", name, sha256.Sum256(data))
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if data, found := wheels[path.Base(r.URL.Path)]; found {
			_, _ = w.Write(data)
			return
		}
		if path.Base(r.URL.Path) != "six" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><html><body>", page, "</body></html>")
	})), nil
}

// wheel returns a wheel of six that knows its version.
func wheel(version string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	info := "six-" + version + ".dist-info/"
	for _, member := range [][2]string{
		{"six.py", fmt.Sprintf("__version__ = %q\n", version)},
		{info + "METADATA", "Metadata-Version: 2.1\nName: six\nVersion: " + version + "\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: acceptance\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", ""},
	} {
		w, err := z.Create(member[0])
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(member[1])); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
