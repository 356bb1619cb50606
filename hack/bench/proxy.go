//go:build unix

package main

import clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

// direct returns a change of a kubeconfig's cluster to a plain address.
func direct(address string) func(*clientcmdapi.Cluster) {
	return func(c *clientcmdapi.Cluster) { *c = clientcmdapi.Cluster{Server: address} }
}
