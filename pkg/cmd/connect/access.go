package connect

import "k8s.io/client-go/tools/clientcmd"

// Kubeconfig returns where the kubeconfig is that the flags and the environment name, to change it.
func (c *Flags) Kubeconfig() clientcmd.ConfigAccess { return c.loading }

// Reload has the kubeconfig read again, after a change.
func (c *Flags) Reload() {
	c.config = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.loading, c.overrides)
}
