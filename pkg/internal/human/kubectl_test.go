package human

import "testing"

func TestKubectl(t *testing.T) {
	for text, want := range map[string]string{
		"kubectl create namespace ml":                           "kubectl --context=dev create namespace ml",
		"kubectl patch role a -n ml && kubectl patch role b":    "kubectl --context=dev patch role a -n ml && kubectl --context=dev patch role b",
		"create it with kubectl create namespace ml":            "create it with kubectl --context=dev create namespace ml",
		"check the address (kubectl cluster-info) and":          "check the address (kubectl --context=dev cluster-info) and",
		"check its address with kubectl config view --minify":   "check its address with kubectl --context=dev config view --minify",
		"list others with kubectl config get-contexts":          "list others with kubectl config get-contexts",
		"kubectl kinetic jobs logs a1":                          "kubectl kinetic jobs logs a1",
		"deleted by someone else (kubectl delete?)":             "deleted by someone else (kubectl delete?)",
		"it is kept if kubectl created it":                      "it is kept if kubectl created it",
		"kubectl --context=dev describe pod x, and say it once": "kubectl --context=dev describe pod x, and say it once",
		"": "",
	} {
		if got := AddToKubectl(text, " --context=dev"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := AddToKubectl(text, ""); got != text {
			t.Errorf("%q without flags: got %q", text, got)
		}
	}
	if got, want := AddToKubectl("kubectl get pods", " --context='$1'"), "kubectl --context='$1' get pods"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
