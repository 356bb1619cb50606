package price

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/suggest"
)

// words are the items that are no machines.
func words() []string {
	return []string{ClusterHour, NATHour, AddressHour, DiskGBMonth, BucketGBMonth}
}

// checkItem returns an error for an item whose price would never be used.
func checkItem(item string) error {
	known := words()
	for _, word := range known {
		if item == word {
			return nil
		}
	}
	for _, a := range accelerator.Catalogue() {
		switch {
		case a.Kind == api.TPU && item == a.Name, a.Kind == api.GPU && item == a.MachineType:
			return nil
		case a.Kind == api.TPU && item == a.MachineType:
			return fmt.Errorf("%q is a machine with TPUs, whose price is that of a chip: write %s", item, a.Name)
		case a.Kind == api.TPU:
			known = append(known, a.Name)
		case a.Kind == api.GPU:
			known = append(known, a.MachineType)
		}
	}
	switch a, err := accelerator.Parse(item, accelerator.Options{}); {
	case err == nil && a.Kind == api.TPU:
		return fmt.Errorf("%q is not an item: the price of a TPU is that of a chip: write %s", item, a.Name)
	case err == nil && a.Kind == api.GPU:
		return fmt.Errorf("%q is not an item: the price of a GPU is that of its machine: write %s", item, a.MachineType)
	case machinePattern().MatchString(item):
		return nil
	}
	if meant := suggest.Sentence(item, known); meant != "" {
		return fmt.Errorf("%q is not an item: %s", item, meant)
	}
	return fmt.Errorf("%q is not an item: expected a TPU such as v6e, a machine type such as a3-highgpu-8g, or a word such as %s", item, ClusterHour)
}
