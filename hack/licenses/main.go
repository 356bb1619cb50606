// Command licenses checks the licenses of the modules that are linked into the plugins, and
// writes the texts that have to be shipped with binaries.
//
//	go run ./hack/licenses [-tags TAGS] [-o FILE] GOOS/GOARCH…
//
// It needs no network if the modules are in the module cache. It looks at all given
// platforms, because each links other modules.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

func main() {
	tags := flag.String("tags", "", "build tags of a release")
	output := flag.String("o", "", "file for the licenses and notices of all modules")
	flag.Parse()
	if err := run(*tags, *output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "licenses: "+err.Error())
		os.Exit(1)
	}
}

func run(tags, output string, platforms []string) error {
	modules, err := linked(tags, platforms)
	if err != nil {
		return err
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	dir := strings.TrimSpace(string(goroot))
	modules = append(modules, module{path: "the Go standard library", version: runtime.Version(), dir: dir, packages: []string{dir}})
	var problems []error
	var texts []text
	for _, m := range modules {
		found, err := m.texts()
		problems = append(problems, err)
		texts = append(texts, found...)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if output == "" {
		fmt.Printf("%d modules are linked into the plugins, all under %s\n", len(modules)-1, strings.Join(kinds(texts), ", "))
		return nil
	}
	return os.WriteFile(output, notices(texts), 0o644)
}
