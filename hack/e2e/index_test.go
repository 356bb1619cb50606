package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// packageIndex is an index of made-up packages, which pods can reach.
type packageIndex struct {
	log   requestLog
	url   string
	files map[string][]byte // wheels by name
}

// password is that of the user me, for the index at /private.
const password = "hush-hush"

type indexKey struct{}

// indexWord implements the scripts' command index:
//
//	index serve                       serves alpha 1.0 and 1.1, which require beta, and beta 2.0
//	index add NAME VERSION DIRECTORY  adds a package with the files of a directory
//	index fill FILE…                  replaces {index} and {private}, the URLs of the index, and {alpha-1.0}, the SHA-256 of a wheel
//	index log FILE                    writes the requests since the last time
func indexWord(ts *testscript.TestScript, neg bool, args []string) {
	x := ts.Value(indexKey{}).(*packageIndex)
	switch {
	case neg || len(args) == 0:
	case args[0] == "serve" && len(args) == 1:
		var err error
		x.url, err = serve(ts, x)
		ts.Check(err)
		ts.Setenv("INDEX", x.url+"/simple")
		return
	case args[0] == "add" && len(args) == 4:
		files, err := filesBelow(ts.MkAbs(args[3]))
		ts.Check(err)
		ts.Check(x.add(args[1], args[2], "", files))
		return
	case args[0] == "fill" && len(args) > 1:
		for _, file := range args[1:] {
			ts.Check(os.WriteFile(ts.MkAbs(file), []byte(x.filler().Replace(ts.ReadFile(file))), 0o600))
		}
		return
	case args[0] == "log" && len(args) == 2:
		ts.Check(x.log.write(ts.MkAbs(args[1])))
		return
	}
	ts.Fatalf("usage: index serve, index add NAME VERSION DIRECTORY, index fill FILE…, or index log FILE")
}

func newIndex() (*packageIndex, error) {
	x := &packageIndex{files: map[string][]byte{}}
	for _, w := range []struct{ name, version, requires string }{{"alpha", "1.0", "beta"}, {"alpha", "1.1", "beta"}, {"beta", "2.0", ""}} {
		module := fmt.Sprintf("version = %q\n\n\ndef main():\n    print(%q, version)\n", w.version, w.name)
		if err := x.add(w.name, w.version, w.requires, [][2]string{{w.name + ".py", module}}); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// filesBelow returns the names and the contents of the files below a directory.
func filesBelow(directory string) (files [][2]string, err error) {
	tree := os.DirFS(directory)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		files = append(files, [2]string{name, string(data)})
		return err
	})
	return files, err
}

// add adds a wheel with these files, and a command of its name that calls main of its module.
func (x *packageIndex) add(name, version, requires string, files [][2]string) error {
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)
	if requires != "" {
		metadata += "Requires-Dist: " + requires + "\n"
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, member := range append(slices.Clip(files), [][2]string{
		{info + "METADATA", metadata},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: e2e\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "entry_points.txt", fmt.Sprintf("[console_scripts]\n%[1]s = %[1]s:main\n", name)},
		{info + "RECORD", ""},
	}...) {
		w, err := z.Create(member[0])
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(member[1])); err != nil {
			return err
		}
	}
	err := z.Close()
	x.files[fmt.Sprintf("%s-%s-py3-none-any.whl", name, version)] = b.Bytes()
	return err
}

// filler replaces what scripts can't know beforehand.
func (x *packageIndex) filler() *strings.Replacer {
	pairs := []string{"{index}", x.url, "{private}", strings.Replace(x.url, "://", "://me:"+password+"@", 1) + "/private"}
	for name, data := range x.files {
		sum := sha256.Sum256(data)
		pairs = append(pairs, "{"+strings.TrimSuffix(name, "-py3-none-any.whl")+"}", hex.EncodeToString(sum[:]))
	}
	return strings.NewReplacer(pairs...)
}

// ServeHTTP answers as PEP 503 says.
func (x *packageIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.log.add(r)
	root := ""
	if strings.HasPrefix(r.URL.Path, "/private/") {
		root = "/private"
		if user, given, _ := r.BasicAuth(); user != "me" || given != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="index"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
	}
	last := path.Base(r.URL.Path)
	if data, ok := x.files[last]; ok {
		_, _ = w.Write(data)
		return
	}
	page := ""
	for name, data := range x.files {
		if strings.HasPrefix(name, last+"-") {
			page += fmt.Sprintf("<a href=\"%s/files/%s#sha256=%x\">%s</a>\n", root, name, sha256.Sum256(data), name)
		}
	}
	if page == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<!DOCTYPE html><html><body>", page, "</body></html>")
}
