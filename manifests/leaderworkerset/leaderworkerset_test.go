package leaderworkerset

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The local cluster runs the release that `up` installs.
func TestReleaseIsThatOfTheLocalCluster(t *testing.T) {
	modules, err := os.ReadFile("../../hack/cluster/lws/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(modules), "sigs.k8s.io/lws "+Version+" ") {
		t.Errorf("hack/cluster/lws/go.mod has no sigs.k8s.io/lws %s: run make update-leaderworkerset, and change Version", Version)
	}
	if !bytes.Contains(YAML, []byte("image: registry.k8s.io/lws/lws:"+Version+"\n")) {
		t.Errorf("the manifest doesn't run %s", Version)
	}
}

// GKE's firewall lets API servers reach pods of private nodes on 443 and 10250 only.
func TestWebhooksHaveAPortThatPrivateClustersAllow(t *testing.T) {
	if bytes.Contains(YAML, []byte("9443")) || !bytes.Contains(YAML, []byte("targetPort: 10250")) {
		t.Error("the webhooks are not on port 10250")
	}
}
