package frontdoor

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/version"
)

// versionInfo is what `version -o json` prints.
type versionInfo struct {
	Version   string `json:"version"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

func printVersion(p Process, args []string) error {
	format, err := versionFormat(args)
	if err != nil {
		return err
	}
	info := versionInfo{version.String(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if format == "" {
		return write(p.Stdout, fmt.Sprintf("%s %s (%s, %s)\n", product, info.Version, info.Platform, info.GoVersion))
	}
	text, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the version as JSON: %w", err)
	}
	return write(p.Stdout, string(text)+"\n")
}

// versionFormat returns "" for a line of text, or "json".
func versionFormat(args []string) (string, error) {
	var format string
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&format, "o", "", "")
	flags.StringVar(&format, "output", "", "")
	if err := flags.Parse(args); err != nil {
		return "", usageError(fmt.Sprintf("version: %v; the only flag is -o json", err))
	}
	if flags.NArg() > 0 {
		return "", usageError(fmt.Sprintf("version takes no argument, got %q", flags.Arg(0)))
	}
	if format != "" && format != "json" {
		return "", usageError(fmt.Sprintf("version: -o %q: expected json", format))
	}
	return format, nil
}
