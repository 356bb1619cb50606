package connect

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	// OpenID Connect, and error messages for removed providers. Programs that print
	// credentials work without this.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// REST returns the configuration for the cluster of a target, which may differ from the
// kubeconfig's current context. It contacts nothing; its errors are about the kubeconfig
// and this machine, exit code 2.
func (c *Flags) REST(t config.Target) (*rest.Config, error) {
	config, err := c.load(t)
	if err == nil {
		err = checkCredentials(config)
	}
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("connecting to the cluster of %s: %w", way(t), err))
	}
	config.UserAgent = "kubectl-kinetic/" + version.String()
	config.WarningHandler = rest.NoWarnings{}
	if c.notices != nil {
		config.WarningHandler = rest.NewWarningWriter(c.notices, rest.WarningWriterOptions{Deduplicate: true})
	}
	config.QPS = -1 // the server does its own throttling
	return config, nil
}

func (c *Flags) load(t config.Target) (*rest.Config, error) {
	if t.Context == "" { // in a pod, or by --server
		config, err := c.config.ClientConfig()
		if clientcmd.IsEmptyConfig(err) {
			return nil, errors.New("no kubeconfig and no service account token: name a file with --kubeconfig, or give the pod a service account")
		}
		return config, err
	}
	raw, err := c.config.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w: %s", err, fixConfig)
	}
	if context := raw.Contexts[t.Context]; context != nil && raw.Clusters[context.Cluster] == nil && c.overrides.ClusterInfo.Server == "" {
		return nil, missingCluster(context.Cluster)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(raw, t.Context, c.overrides, c.loading).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, SettingHint)
	}
	return config, nil
}

// fixConfig is the advice for a kubeconfig that leads nowhere.
const fixConfig = "fix the kubeconfig, or choose another context with --context"

// SettingHint is the advice for an invalid setting, which may come from a flag.
const SettingHint = "fix the kubeconfig or the flag that overrides it, or choose another context with --context"

// missingCluster returns the error for a context whose cluster the kubeconfig lacks.
func missingCluster(name string) error {
	if name == "" {
		return errors.New("the context has no cluster: " + fixConfig)
	}
	return fmt.Errorf("the context names the cluster %s, which is not in the kubeconfig: %s", name, fixConfig)
}

func way(t config.Target) string {
	if t.Context == "" {
		return t.From.Context
	}
	return "context " + t.Context
}

// gkePlugin is the program that gets credentials for GKE.
const gkePlugin = "gke-gcloud-auth-plugin"

// componentGKEPlugin is the command that installs it, and installGKEPlugin says how else.
const (
	componentGKEPlugin = "gcloud components install " + gkePlugin
	installGKEPlugin   = "install it with `" + componentGKEPlugin +
		"`, or where gcloud is a Debian package `sudo apt-get install google-cloud-cli-" + gkePlugin + "`"
)

// CredentialProgram returns the program that gets the credentials for the cluster of a target, "" if
// there is none. install is the command that installs it if it is the one for GKE, else "".
func (c *Flags) CredentialProgram(t config.Target) (program, install string) {
	config, err := c.load(t)
	if err != nil || config.ExecProvider == nil || config.BearerToken != "" {
		return "", ""
	}
	program = config.ExecProvider.Command
	if isGKEPlugin(program) {
		install = componentGKEPlugin
	}
	return program, install
}

func isGKEPlugin(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == gkePlugin
}

// checkCredentials reports now what would otherwise fail at the first request, after the
// preparations.
func checkCredentials(config *rest.Config) error {
	if p := config.AuthProvider; p != nil && (p.Name == "gcp" || p.Name == "azure") {
		return removedProvider(p.Name)
	}
	if err := checkCertificate(config.TLSClientConfig, time.Now()); err != nil {
		return err
	}
	if config.ExecProvider == nil || config.BearerToken != "" { // --token takes precedence
		return nil
	}
	if _, err := exec.LookPath(config.ExecProvider.Command); err != nil {
		return missingPlugin(config.ExecProvider, err)
	}
	return nil
}

// checkCertificate reports an expired client certificate: the API server would only say
// that it does not know the user. It ignores what it can't read: the client reports that.
func checkCertificate(c rest.TLSClientConfig, now time.Time) error {
	text := c.CertData
	if len(text) == 0 && c.CertFile != "" {
		text, _ = os.ReadFile(c.CertFile)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !now.After(cert.NotAfter) {
		return nil
	}
	return fmt.Errorf("its user's certificate expired on %s, and this machine's clock shows %s: get the context again, or set the clock",
		cert.NotAfter.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
}

// removedProvider returns the error for a kubeconfig from before 2022.
func removedProvider(name string) error {
	if name == "gcp" {
		return fmt.Errorf("its user has an auth-provider of type gcp, which Kubernetes no longer supports: %s, then get the context again with `gcloud container clusters get-credentials`", installGKEPlugin)
	}
	return fmt.Errorf("its user has an auth-provider of type %s, which Kubernetes no longer supports: get the context again from your provider", name)
}

func missingPlugin(p *clientcmdapi.ExecConfig, err error) error {
	why := fmt.Sprintf("its credentials come from %s, which can't be run: %v", p.Command, err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		why = fmt.Sprintf("its credentials come from %s, which is not installed or not on PATH", p.Command)
	}
	hint := strings.Join(strings.Fields(p.InstallHint), " ")
	switch {
	case isGKEPlugin(p.Command):
		hint = installGKEPlugin
	case hint == "":
		hint = "install it, or fix users[].user.exec.command in the kubeconfig"
	}
	return errors.New(ui.Clean(why + ": " + hint))
}
