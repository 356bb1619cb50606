package accelerator

import (
	"slices"
	"testing"
)

// Every machine of the catalogue has a line, and can attach the disk from which it starts.
func TestEveryMachineHasDisks(t *testing.T) {
	for _, a := range Catalogue() {
		if a.MachineType == "" {
			continue
		}
		if boot := BootDisk(a.MachineType); boot == "" || !slices.Contains(Disks(a.MachineType), boot) {
			t.Errorf("%s starts from %q and attaches %q", a.MachineType, boot, Disks(a.MachineType))
		}
	}
}

// Google Cloud's pages say which disks a machine takes.
func TestDisks(t *testing.T) {
	for _, tt := range []struct {
		machine, boot string
		takes, lacks  []string
	}{
		{"ct6e-standard-8t", "hyperdisk-balanced", []string{"hyperdisk-balanced", "hyperdisk-ml"}, []string{"pd-balanced", "pd-ssd", "pd-standard"}},
		{"tpu7x-standard-4t", "hyperdisk-balanced", []string{"hyperdisk-ml"}, []string{"pd-balanced"}},
		{"ct5p-hightpu-4t", "pd-balanced", []string{"pd-balanced", "hyperdisk-ml"}, []string{"hyperdisk-balanced", "pd-standard"}},
		{"ct5lp-hightpu-8t", "pd-balanced", []string{"pd-balanced"}, []string{"hyperdisk-balanced"}},
		{"ct4p-hightpu-4t", "pd-balanced", []string{"pd-balanced"}, []string{"hyperdisk-balanced", "hyperdisk-ml"}},
		{"a3-highgpu-8g", "pd-balanced", []string{"pd-ssd", "hyperdisk-balanced"}, []string{"pd-standard"}},
		{"a3-ultragpu-8g", "hyperdisk-balanced", []string{"hyperdisk-balanced"}, []string{"pd-balanced", "pd-ssd"}},
		{"a4-highgpu-8g", "hyperdisk-balanced", []string{"hyperdisk-ml"}, []string{"pd-balanced"}},
		{"a4x-highgpu-4g", "hyperdisk-balanced", []string{"hyperdisk-ml"}, []string{"hyperdisk-throughput"}},
		{"a4x-maxgpu-4g-metal", "hyperdisk-balanced", []string{"hyperdisk-throughput"}, []string{"pd-balanced"}},
		{"g2-standard-4", "pd-balanced", []string{"pd-balanced", "hyperdisk-ml"}, []string{"hyperdisk-balanced"}},
		{"n1-standard-4", "pd-balanced", []string{"pd-standard"}, []string{"hyperdisk-ml"}},
		{"c4-standard-8", "", nil, []string{"pd-balanced"}},
	} {
		if got := BootDisk(tt.machine); got != tt.boot {
			t.Errorf("%s starts from %q, want %q", tt.machine, got, tt.boot)
		}
		for _, disk := range tt.takes {
			if !slices.Contains(Disks(tt.machine), disk) {
				t.Errorf("%s does not take %s", tt.machine, disk)
			}
		}
		for _, disk := range tt.lacks {
			if slices.Contains(Disks(tt.machine), disk) {
				t.Errorf("%s takes %s", tt.machine, disk)
			}
		}
	}
}

// Compute Engine and GKE's driver have several ways to say that a machine never takes a type of disk. Other
// failures pass.
func TestDisksThatAMachineNeverTakes(t *testing.T) {
	for message, want := range map[string][2]string{
		`rpc error: code = Internal desc = Failed to Attach: googleapi: Error 400: pd-standard disk type cannot be used by c3-standard-192-metal machine type., badRequest`:                                              {"pd-standard", "c3-standard-192-metal"},
		`rpc error: code = InvalidArgument desc = operation operation-1 failed (UNSUPPORTED_OPERATION): [pd-balanced, ct6e-standard-8t] features are not compatible for creating instance.`:                              {"pd-balanced", "ct6e-standard-8t"},
		`rpc error: code = Internal desc = 'hyperdisk-balanced' is not a compatible disk type with the machine type 'ct5p-hightpu-4t', please review the GKE online documentation for available persistent disk options`: {"hyperdisk-balanced", "ct5p-hightpu-4t"},
		`rpc error: code = InvalidArgument desc = operation operation-2 failed (UNSUPPORTED_OPERATION): Maximum hyperdisk-balanced disks count should be less than or equal to [16], Requested : [17]`:                   {},
		`rpc error: code = Unavailable desc = disk is in use by another instance`: {},
	} {
		if disk, machine := Unattachable(message); [2]string{disk, machine} != want {
			t.Errorf("%s: got %q, %q, want %q", message, disk, machine, want)
		}
	}
}
