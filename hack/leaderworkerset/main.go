// Command leaderworkerset writes the manifest of LeaderWorkerSet that `up` applies, from the sources
// of the version that hack/cluster/lws/go.mod pins.
//
//	go run ./hack/leaderworkerset DIR VERSION >manifests/leaderworkerset/leaderworkerset.yaml
//
// DIR is the module's folder. The descriptions of the fields are left out, two thirds of the text.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// overlay pins the image of the release. GKE's firewall lets the API server of a cluster with
// private nodes reach pods on the kubelet's port only, so the webhooks get that.
const overlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [%s]
images:
- name: us-central1-docker.pkg.dev/k8s-staging-images/lws/lws
  newName: registry.k8s.io/lws/lws
  newTag: %s
patches:
- patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: lws-manager-config, namespace: lws-system}
    data:
      controller_manager_config.yaml: |
        apiVersion: config.lws.x-k8s.io/v1alpha1
        kind: Configuration
        leaderElection:
          leaderElect: true
        internalCertManagement:
          enable: true
        webhook:
          port: 10250
- target: {kind: Service, name: lws-webhook-service}
  patch: |
    - {op: test, path: /spec/ports/0/targetPort, value: 9443}
    - {op: replace, path: /spec/ports/0/targetPort, value: 10250}
- target: {kind: Deployment, name: lws-controller-manager}
  patch: |
    - {op: test, path: /spec/template/spec/containers/0/ports/1/containerPort, value: 9443}
    - {op: replace, path: /spec/template/spec/containers/0/ports/1/containerPort, value: 10250}
`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "leaderworkerset: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments: expected the module's folder, and its version", len(args))
	}
	dir, version := args[0], args[1]
	temp, err := os.MkdirTemp("", "leaderworkerset")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.CopyFS(filepath.Join(temp, "config"), os.DirFS(filepath.Join(dir, "config"))); err != nil {
		return err
	}
	text := fmt.Sprintf(overlay, "config/default", version)
	if err := os.WriteFile(filepath.Join(temp, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), temp)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# LeaderWorkerSet %s, by hack/leaderworkerset.\n", version)
	for i, o := range objects.Resources() {
		object, err := o.Map()
		if err != nil {
			return err
		}
		text, err := yaml.Marshal(withoutDescriptions(object, false))
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(out, "---")
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// withoutDescriptions removes the descriptions in schemas. fields says that the keys are the names
// of fields: one of those may be description.
func withoutDescriptions(value any, fields bool) any {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if _, isText := v.(string); name == "description" && isText && !fields {
				delete(value, name)
				continue
			}
			value[name] = withoutDescriptions(v, name == "properties" && !fields)
		}
	case []any:
		for i, v := range value {
			value[i] = withoutDescriptions(v, false)
		}
	}
	return value
}
