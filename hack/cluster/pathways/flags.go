package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// role is what a process is.
type role string

const (
	manager    role = "resource manager"
	proxy      role = "proxy"
	workerRole role = "worker"
)

// flags are those of one role.
type flags struct {
	role      role
	port      int
	manager   string   // address of the resource manager: proxy and worker
	instances int      // slices: resource manager
	instance  instance // resource manager
}

// instance is a slice.
type instance struct{ hosts, chips int }

// parse parses the flags of a part, which is the name of the program. As Google's servers do, it refuses a
// flag that it doesn't know.
func parse(part string, args []string) (flags, error) {
	f := flags{role: workerRole}
	if part != "server" && part != "proxy_server" {
		return f, fmt.Errorf("the program is called %q: it is server or proxy_server", part)
	}
	set := flag.NewFlagSet(part, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.IntVar(&f.port, "server_port", 0, "")
	set.StringVar(&f.manager, "resource_manager_address", "", "")
	scratch := set.String("gcs_scratch_location", "", "")
	set.Bool("enforce_kernel_ipv6_support", true, "")
	var nodeType, instanceType string
	passed := "megascale_"
	if part == "proxy_server" {
		f.role = proxy
		passed = "xla_"
		set.Int("num_elastic_slices", 0, "")
		set.String("sidecar_name", "", "")
	} else {
		set.StringVar(&nodeType, "node_type", "", "")
		set.IntVar(&f.instances, "instance_count", 0, "")
		set.StringVar(&instanceType, "instance_type", "", "")
		set.Bool("enable_gcs_olm", true, "")
		set.Int64("tpu_premapped_buffer_size", 0, "")
		set.Bool("tpu_pinned_host_allocation_recycle", false, "")
	}
	own := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "--"+passed) })
	if err := set.Parse(own); err != nil {
		return f, err
	}
	if set.NArg() > 0 {
		return f, fmt.Errorf("%q is no flag", set.Arg(0))
	}
	if *scratch != "" && !strings.HasPrefix(*scratch, "gs://") {
		return f, fmt.Errorf("--gcs_scratch_location=%s: it begins with gs://", *scratch)
	}
	return f.check(nodeType, instanceType)
}

// check completes flags, and checks that what their role needs is there.
func (f flags) check(nodeType, instanceType string) (flags, error) {
	switch nodeType {
	case "":
	case "resource_manager":
		f.role = manager
	default:
		return f, fmt.Errorf("--node_type=%s: it is resource_manager, or left out", nodeType)
	}
	if f.port < 1 || f.port > 65535 {
		return f, fmt.Errorf("--server_port=%d: it is a port", f.port)
	}
	if f.role != manager {
		if f.manager == "" {
			return f, errors.New("--resource_manager_address is missing")
		}
		if instanceType != "" || f.instances != 0 {
			return f, errors.New("--instance_type and --instance_count are the resource manager's")
		}
		return f, nil
	}
	if f.instances < 1 {
		return f, fmt.Errorf("--instance_count=%d: it is the number of slices", f.instances)
	}
	var err error
	f.instance, err = parseInstance(instanceType)
	return f, err
}

// chipsPerHost is the number of chips of a machine, by the first part of an instance type.
var chipsPerHost = map[string]int{"tpuv4": 4, "tpuv5": 4, "tpuv5e": 4, "tpuv5e1t": 8, "tpuv6e": 4, "tpuv6e1t": 8, "tpu7x": 4}

// parseInstance parses an instance type such as tpuv5e:2x4, which says how many hosts a slice has: its chips,
// the product of the topology, divided by those of a machine.
func parseInstance(s string) (instance, error) {
	kind, topology, _ := strings.Cut(s, ":")
	perHost, ok := chipsPerHost[kind]
	if !ok {
		return instance{}, fmt.Errorf("--instance_type=%s: it begins with one of %s", s, strings.Join(slices.Sorted(maps.Keys(chipsPerHost)), ", "))
	}
	i := instance{chips: 1}
	for side := range strings.SplitSeq(strings.TrimSuffix(topology, "_untwisted"), "x") {
		n, err := strconv.Atoi(side)
		if err != nil || n < 1 {
			return instance{}, fmt.Errorf("--instance_type=%s: after the colon comes a topology such as 2x4", s)
		}
		i.chips *= n
	}
	if i.chips > perHost && i.chips%perHost != 0 {
		return instance{}, fmt.Errorf("--instance_type=%s: %d chips are no whole machines of %d", s, i.chips, perHost)
	}
	i.hosts = max(1, i.chips/perHost)
	return i, nil
}
