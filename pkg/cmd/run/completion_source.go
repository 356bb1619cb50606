package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// completeSource completes NAME=SRC and /MOUNT=SRC behind the equals sign: schemes, and local files and
// directories. Shells can't do that themselves: to most of them NAME=SRC is one path.
func completeSource(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	name, source, found := strings.Cut(word, "=")
	if !found {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// Data that is not on this machine begins with one of these.
	schemes := slices.DeleteFunc([]string{"gs://", "hf://", "pvc://"}, func(s string) bool { return !strings.HasPrefix(s, source) })
	var offers []string
	for _, offer := range append(schemes, localPaths(source)...) {
		offers = append(offers, name+"="+offer)
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	if slices.ContainsFunc(offers, func(offer string) bool { return strings.HasSuffix(offer, "/") }) {
		directive |= cobra.ShellCompDirectiveNoSpace // the path continues
	}
	return offers, directive
}

// localPaths returns the files, and the directories with a slash at the end, whose paths begin with source.
// It leaves out hidden ones unless their dot was typed, and names that --data or a shell would misread.
func localPaths(source string) []string {
	dir, begin := filepath.Split(source)
	folder := filepath.Clean(platform.ExpandHome(dir, platform.HomeDir(os.Getenv))) // the current one for ""
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var paths []string
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, begin) || begin == "" && name[0] == '.' || strings.ContainsAny(name, ",\t\n") {
			continue
		}
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.IsDir() {
			name += "/"
		}
		paths = append(paths, dir+name)
	}
	return paths
}
