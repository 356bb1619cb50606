package render

import (
	"bytes"
	"encoding/base64"
	"fmt"

	goyaml "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/runner"
)

type program struct {
	zip    []byte
	sha256 string
}

func theRunner(s api.Spec) program {
	if s.Warm != nil {
		return program{zip: runner.WarmZip(), sha256: runner.WarmSHA256()}
	}
	return program{zip: runner.Zip(), sha256: runner.SHA256()}
}

const (
	runnerVolume = "runner"
	runnerFile   = "runner.yaml"
)

// configMapName returns the name of the runner's ConfigMap, made from the hash of its
// content.
func (p program) configMapName() string { return api.RunnerPrefix + p.sha256 }

// configMap returns the ConfigMap that holds the runner, as an object and as YAML. The
// jobs of a namespace share it, so it names none of them.
func (p program) configMap(s api.Spec) (*unstructured.Unstructured, []byte, error) {
	data := map[string]any{runner.File: placeholder}
	o := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"immutable":  true,
		"binaryData": data,
	}}
	o.SetName(p.configMapName())
	o.SetNamespace(s.Namespace)
	o.SetAnnotations(p.annotations(s))
	o.SetLabels(map[string]string{
		"app.kubernetes.io/component":  "runner",
		"app.kubernetes.io/managed-by": "kubectl-kinetic",
		"app.kubernetes.io/name":       "kinetic",
	})
	text, err := goyaml.Marshal(o.Object)
	if err != nil {
		return nil, nil, fmt.Errorf("writing ConfigMap %s: %w", o.GetName(), err)
	}
	// Two copies of the runner: another one would take as long as planning a small project.
	before, after, _ := bytes.Cut(text, []byte(placeholder))
	end := len(before) + base64.StdEncoding.EncodedLen(len(p.zip))
	whole := append(make([]byte, 0, end+len(after)), before...)
	whole = append(base64.StdEncoding.AppendEncode(whole, p.zip), after...)
	data[runner.File] = string(whole[len(before):end])
	return &o, whole, nil
}

// placeholder stands for the zip while the YAML is written: the encoder would look at
// each character of the zip several times.
const placeholder = "PLACEHOLDER"

func (p program) annotations(s api.Spec) map[string]string {
	all := map[string]string{api.AnnotationRunnerSHA256: p.sha256}
	if s.ClientVersion != "" {
		all[api.AnnotationRunnerVersion] = s.ClientVersion
	}
	return all
}
