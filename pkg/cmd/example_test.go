package cmd_test

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// example PAGE LANGUAGE FILE: writes the first block of code in a language of a page of docs/ to a file.
func example(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: example PAGE LANGUAGE FILE")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", args[0]))
	ts.Check(err)
	_, rest, found := strings.Cut(string(page), "\n```"+args[1]+"\n")
	code, _, ended := strings.Cut(rest, "\n```\n")
	if !found || !ended {
		ts.Fatalf("%s has no block of %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(code+"\n"), 0o600))
}
