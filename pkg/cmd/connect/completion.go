package connect

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

func offer(values func() ([]string, error)) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		list, _ := values() // none, if they can't be read
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// Contexts lists the kubeconfig's contexts.
func (c *Flags) Contexts() ([]string, error) {
	config, err := c.config.RawConfig()
	return slices.Sorted(maps.Keys(config.Contexts)), err
}

// CompleteProfiles offers the user's profiles as the first argument of a command.
func CompleteProfiles(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return offer(profiles)(c, args, word)
}

// profiles lists the user's profiles, with the clusters they stand for.
func profiles() ([]string, error) {
	file, err := config.ReadProfiles(os.Getenv)
	var list []string
	for _, name := range file.Names() {
		if p, err := file.Find(name); err == nil {
			list = append(list, name+"\t"+p.Place())
		}
	}
	return list, err
}

// completeNamespaces offers the cluster's namespaces. Many users may not list them: they get those
// that the kubeconfig's contexts name.
func (c *Flags) completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	list, err := cli.Promptly(cmd.Context(), c.namespaces)
	if err != nil {
		named := map[string]bool{}
		if config, err := c.config.RawConfig(); err == nil {
			for _, context := range config.Contexts {
				named[context.Namespace] = true
			}
		}
		delete(named, "")
		list = slices.Sorted(maps.Keys(named))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// namespaces lists the cluster's namespaces. The server may take them from its cache.
func (c *Flags) namespaces(ctx context.Context) ([]string, error) {
	where, err := c.ResolveJobs() // without a store
	if err != nil {
		return nil, err
	}
	config, err := c.REST(where)
	if err != nil {
		return nil, err
	}
	client, err := apiserver.NewClient(config, nil)
	if err != nil {
		return nil, err
	}
	rows, err := apiserver.ReadTable(func(parameters map[string]string) ([]byte, error) {
		return client.Read(ctx, apiserver.AcceptTable, parameters, "/api/v1/namespaces")
	}, "Name")
	if err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	return slices.Concat(rows...), nil
}
