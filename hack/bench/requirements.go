//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// requirementLines is how many lines of requirements are read.
const requirementLines = 5000

// lines: a large requirements.txt, compared with the parser that pip has.
func (i *imageBench) lines(ctx context.Context) error {
	var text strings.Builder
	for n := range requirementLines {
		fmt.Fprintf(&text, "package-%d[extra]==1.%d.3 ; python_version >= '3.9'\n", n, n%50)
	}
	if err := i.write("images/lines/requirements.txt", text.String()); err != nil {
		return err
	}
	dir := filepath.Join(i.dir, "images", "lines")
	var ours, pip []sample
	for range runs {
		began := time.Now()
		if _, err := deps.Find(deps.Options{Root: dir, EntryDir: dir, Cwd: dir, Home: i.dir}); err != nil {
			return err
		}
		ours = append(ours, sample{wall: time.Since(began)})
		out, err := exec.CommandContext(ctx, "python3", "-c", parse, filepath.Join(dir, "requirements.txt")).Output()
		if err != nil {
			return err
		}
		took, err := time.ParseDuration(strings.TrimSpace(string(out)) + "s")
		if err != nil {
			return err
		}
		pip = append(pip, sample{wall: took})
	}
	i.times(fmt.Sprintf("%d lines of requirements read / by pip's parser, without its start", requirementLines), median(ours), median(pip), "<= 20 ms")
	return nil
}

// parse reads requirements as pip does, and prints the seconds that this took.
const parse = `
import sys, time
from pip._internal.network.session import PipSession
from pip._internal.req.req_file import parse_requirements
from pip._internal.req.constructors import install_req_from_parsed_requirement
began = time.perf_counter()
for line in parse_requirements(sys.argv[1], PipSession()):
    install_req_from_parsed_requirement(line)
print(time.perf_counter() - began)
`
