package render

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	goyaml "go.yaml.in/yaml/v2"

	"github.com/kubectl-kinetic/kinetic/manifests"
)

// lists holds the names of the entries of lists in a pod, in order, by the JSON pointer
// of the list. A JSON patch only knows the positions of entries; with lists, patches can
// use their names.
type lists map[string][]string

// Lists of the pod in manifests/base/job.
const (
	envList    = container + "/env"
	volumeList = podSpec + "/volumes"
)

func readLists(components []string) (lists, error) {
	type named []struct{ Name string }
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Env named }
					Volumes    named
				}
			}
		}
	}
	if err := readManifest(jobFile, &job); err != nil {
		return nil, err
	}
	l := lists{}
	pod := job.Spec.Template.Spec
	for _, e := range pod.Containers[0].Env {
		l[envList] = append(l[envList], e.Name)
	}
	for _, v := range pod.Volumes {
		l[volumeList] = append(l[volumeList], v.Name)
	}
	for _, dir := range components {
		if err := l.follow(dir); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// follow adds the entries that the patches of a component add.
func (l lists) follow(dir string) error {
	file := path.Join(dir, kustomizationFile)
	var k struct{ Patches []struct{ Patch string } }
	if err := readManifest(file, &k); err != nil {
		return err
	}
	for _, p := range k.Patches {
		var steps []struct {
			Op, Path string
			Value    any
		}
		if err := goyaml.Unmarshal([]byte(p.Patch), &steps); err != nil {
			return fmt.Errorf("reading the built-in manifests: %s: %w", file, err)
		}
		for _, step := range steps {
			entry, isMap := step.Value.(map[any]any)
			name, isNamed := entry["name"].(string)
			if step.Op == "add" && isMap && isNamed {
				l.add(path.Dir(step.Path), path.Base(step.Path), name)
			}
		}
	}
	return nil
}

// add inserts a name into a list, at an index or, with "-", at the end.
func (l lists) add(list, place, name string) {
	at := len(l[list])
	if i, err := strconv.Atoi(place); err == nil {
		at = min(i, at)
	}
	l[list] = slices.Insert(l[list], at, name)
}

// find returns the JSON pointer of the entry with a name, and whether it exists.
func (l lists) find(list, name string) (pointer string, found bool) {
	i := slices.Index(l[list], name)
	return list + "/" + strconv.Itoa(i), i >= 0
}

// entry returns the JSON pointer of an entry of the base or a component. It adds a test
// that kustomize finds the entry there, too.
func (p *patch) entry(l lists, list, name string) string {
	at, _ := l.find(list, name)
	p.test(at+"/name", name)
	return at
}

func readManifest(file string, into any) error {
	text, err := manifests.FS.ReadFile(file)
	if err == nil {
		err = goyaml.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("reading the built-in manifests: %s: %w", file, err)
	}
	return nil
}
