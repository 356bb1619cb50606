package frontdoor

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// clientVersion is what `version -o json` prints about this program.
type clientVersion struct {
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"`
	CommitTime string `json:"commitTime,omitempty"`
	// Modified means that the source had changes that are not in the commit.
	Modified bool `json:"modified,omitempty"`
	// Development means that it is no release.
	Development bool   `json:"development"`
	GoVersion   string `json:"goVersion"`
	Platform    string `json:"platform"`
}

func thisClient() clientVersion {
	info := version.Read()
	return clientVersion{info.Version, info.Commit, info.Time, info.Modified, !version.IsRelease(info.Version),
		runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// clusterBinary has a command that describes the cluster: it links a Kubernetes client.
const clusterBinary = "kubectl-kinetic_jobs"

// printVersion describes this program, then the cluster, which its sibling asks. If the
// cluster or the sibling fails, that is a part of the answer, not an error.
func printVersion(p Process, args []string) (int, error) {
	o, err := parseVersion(args)
	if err == nil {
		err = o.check(p.Args[1])
	}
	if err != nil {
		return 0, err
	}
	client, cluster := thisClient(), ""
	if !o.client {
		var code int
		if cluster, code, err = p.clusterVersion(o, client.Version); code != exitOK || err != nil {
			return code, err
		}
	}
	text, err := o.text(client, cluster)
	if err != nil {
		return 0, err
	}
	return exitOK, write(p.Stdout, text)
}

// clusterVersion returns what the sibling prints about the cluster, in the format of the
// command line. With another exit code than 0, the sibling has reported an error.
func (p Process) clusterVersion(o versionOptions, ours string) (string, int, error) {
	path, err := p.find(clusterBinary)
	if err != nil {
		return o.clusterError(err), exitOK, nil
	}
	args := []string{"version", "--front-door=" + ours}
	if o.format != "" {
		args = append(args, "--output="+o.format)
	}
	said, err := p.Output(path, append(args, o.rest...))
	if errors.Is(err, errInterrupted) {
		return "", 0, err
	}
	if err != nil {
		return o.clusterError(fmt.Errorf("starting %s: %w; %s", path, err, fix)), exitOK, nil
	}
	if said.Code != exitOK && strings.Contains(said.Stderr, `unknown command "version"`) {
		return o.clusterError(fmt.Errorf("%s is an older version without this command; %s", path, fix)), exitOK, nil
	}
	_, err = p.Stderr.Write([]byte(said.Stderr))
	if said.Code != exitOK {
		return "", said.Code, nil
	}
	return said.Stdout, exitOK, err
}

// clusterError returns an error in place of what the sibling would print.
func (o versionOptions) clusterError(err error) string {
	switch o.format {
	case "json":
		text, _ := json.Marshal(map[string]string{"error": err.Error()}) // strings can always be written
		return string(text)
	case "yaml":
		return "error: " + strconv.QuoteToGraphic(err.Error()) + "\n"
	}
	return "cluster   " + err.Error() + "\n"
}

// text returns the answer. cluster is what is known of the cluster, "" to leave it out.
func (o versionOptions) text(client clientVersion, cluster string) (string, error) {
	switch o.format {
	case "json":
		both := struct {
			Client  clientVersion   `json:"client"`
			Cluster json.RawMessage `json:"cluster,omitempty"`
		}{client, json.RawMessage(cluster)}
		text, err := json.MarshalIndent(both, "", "  ")
		if err != nil {
			return "", fmt.Errorf("writing the version as JSON: %w", err)
		}
		return string(text) + "\n", nil
	case "yaml":
		text := "client:\n" + indent(client.yaml())
		if cluster != "" {
			text += "cluster:\n" + indent(cluster)
		}
		return text, nil
	}
	return product + " " + client.line() + "\n" + cluster, nil
}

func (c clientVersion) line() string {
	var about []string
	if c.Development {
		about = append(about, "development build")
	}
	const enough = 12
	if len(c.Commit) >= enough {
		commit := "commit " + c.Commit[:enough]
		if c.Modified {
			commit += " with changes"
		}
		about = append(about, commit)
	}
	return fmt.Sprintf("%s (%s)", c.Version, strings.Join(append(about, c.Platform, c.GoVersion), ", "))
}

// yaml returns the same fields as JSON. All of them are on one level.
func (c clientVersion) yaml() string {
	var b strings.Builder
	text := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, strconv.Quote(value))
		}
	}
	text("version", c.Version)
	text("commit", c.Commit)
	text("commitTime", c.CommitTime)
	if c.Modified {
		b.WriteString("modified: true\n")
	}
	fmt.Fprintf(&b, "development: %t\n", c.Development)
	text("goVersion", c.GoVersion)
	text("platform", c.Platform)
	return b.String()
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// versionOptions are the flags of version. rest are those of kubectl, such as --context,
// which only the sibling knows.
type versionOptions struct {
	client bool
	format string // "", "json" or "yaml"
	rest   []string
}

func parseVersion(args []string) (versionOptions, error) {
	var o versionOptions
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		word := args[0]
		args = args[1:]
		switch {
		case name == clientFlag:
			client, err := strconv.ParseBool(value)
			if given && err != nil {
				return o, usageError(fmt.Sprintf("version: --client %q: expected true or false", value))
			}
			o.client = !given || client
			continue
		case name == "-o" || name == "--output":
			if !given && len(args) == 0 {
				return o, usageError(fmt.Sprintf("version: %s: expected json or yaml after it", name))
			}
			if !given {
				value, args = args[0], args[1:]
			}
		case strings.HasPrefix(word, "-o"):
			value = strings.TrimPrefix(word, "-o")
		default:
			o.rest = append(o.rest, word)
			continue
		}
		if o.format = value; value != "json" && value != "yaml" {
			return o, usageError(fmt.Sprintf("version: -o %q: expected json or yaml", value))
		}
	}
	return o, nil
}

// check finds mistakes that the sibling would find, or could not. typed is the first word, version or --version.
func (o versionOptions) check(typed string) error {
	if len(o.rest) == 0 {
		return nil
	}
	if first := o.rest[0]; !strings.HasPrefix(first, "-") {
		return usageError(fmt.Sprintf("version takes no argument, got %q", first))
	}
	if o.client {
		if typed == versionFlag {
			return usageError(fmt.Sprintf("--version doesn't contact a cluster: omit %s, or type `kubectl kinetic version`", o.rest[0]))
		}
		return usageError(fmt.Sprintf("version: --client doesn't contact a cluster: omit it, or %s", o.rest[0]))
	}
	return nil
}
