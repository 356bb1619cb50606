package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

func TestParse(t *testing.T) {
	const port, rm = "--server_port=29001", "--resource_manager_address=127.0.0.1:29001"
	for name, c := range map[string]struct {
		part string
		args []string
		want flags
		err  string
	}{
		"resource manager": {"server",
			[]string{port, "--node_type=resource_manager", "--instance_count=1", "--instance_type=tpuv5e:2x4", "--gcs_scratch_location=gs://b/pathways", "--enable_gcs_olm=false"},
			flags{role: manager, port: 29001, instances: 1, instance: instance{2, 8}}, ""},
		"worker": {"server", []string{port, rm, "--megascale_port=1", "--tpu_premapped_buffer_size=1024"}, flags{role: workerRole, port: 29001, manager: "127.0.0.1:29001"}, ""},
		"proxy":  {"proxy_server", []string{port, rm, "--xla_anything=true", "--num_elastic_slices=1"}, flags{role: proxy, port: 29001, manager: "127.0.0.1:29001"}, ""},

		"no part":                 {"", nil, flags{}, `the program is called ""`},
		"unknown":                 {"server", []string{port, rm, "--colour=red"}, flags{}, "not defined: -colour"},
		"no flag":                 {"server", []string{port, rm, "more"}, flags{}, `"more" is no flag`},
		"XLA's of a worker":       {"server", []string{port, rm, "--xla_anything=true"}, flags{}, "not defined: -xla_anything"},
		"manager's of a proxy":    {"proxy_server", []string{port, rm, "--instance_count=1"}, flags{}, "not defined: -instance_count"},
		"no port":                 {"server", []string{rm}, flags{}, "--server_port=0"},
		"no address":              {"server", []string{port}, flags{}, "--resource_manager_address is missing"},
		"scratch":                 {"server", []string{port, rm, "--gcs_scratch_location=/tmp"}, flags{}, "begins with gs://"},
		"node type":               {"server", []string{port, "--node_type=worker"}, flags{}, "it is resource_manager, or left out"},
		"manager without a count": {"server", []string{port, "--node_type=resource_manager", "--instance_type=tpuv5e:2x4"}, flags{}, "--instance_count=0"},
		"worker with a type":      {"server", []string{port, rm, "--instance_type=tpuv5e:2x4"}, flags{}, "the resource manager's"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(c.part, c.args)
			switch {
			case c.err == "" && (err != nil || got != c.want):
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

func TestParseInstance(t *testing.T) {
	for s, want := range map[string]instance{
		"tpuv5e:2x4": {2, 8}, "tpuv6e:4x4": {4, 16}, "tpuv5:4x4x4": {16, 64}, "tpuv4:2x2x1": {1, 4}, "tpu7x:2x2x2": {2, 8},
		"tpuv5e1t:2x4": {1, 8}, "tpuv5e:1x1": {1, 1}, "tpuv5:4x4x8_untwisted": {32, 128},
		"tpuv3:2x2": {}, "tpuv5e": {}, "tpuv5e:2": {1, 2}, "tpuv5e:2xtwo": {}, "tpuv5e:0x4": {}, "tpuv5e:3x2": {},
	} {
		got, err := parseInstance(s)
		if got != want || (err == nil) != (want != instance{}) {
			t.Errorf("%s: got %+v, %v, want %+v", s, got, err, want)
		}
	}
}

func TestProxyNeedsTheInsecureChannel(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "": false, "yes": false} {
		if err := checkProxy(func(string) string { return value }); (err == nil) != want {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestManagerNeedsItsName(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	lookup := func(_ context.Context, name string) ([]string, error) {
		if asked++; name == "known" || name == "new" && asked > 1 {
			return []string{"10.89.0.2"}, nil
		}
		if name == "strange" {
			cancel()
		}
		return nil, errors.New("no such host")
	}
	for _, c := range []struct{ value, err string }{
		{"known", ""}, {"new", ""},
		{"", `HOST_ADDRESS is ""`}, {"$(LWS_LEADER_ADDRESS)", `HOST_ADDRESS is "$(LWS_LEADER_ADDRESS)"`}, {"strange", `HOST_ADDRESS is "strange": no such host`},
	} {
		asked = 0
		err := checkManager(ctx, func(string) string { return c.value }, lookup)
		if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%q: got %v, want %q", c.value, err, c.err)
		}
	}
}

func TestWorkersWithoutANumberEnd(t *testing.T) {
	if _, err := newWorker("a", func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "TPU_WORKER_ID") {
		t.Error(err)
	}
}

// output is what a process printed.
type output struct {
	mu sync.Mutex
	strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Builder.Write(p)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.String()
}

// A client of the proxy sees workers come and go. The slices are ready when all have come, and not before.
func TestWorkersAreCounted(t *testing.T) {
	var out output
	m := newWorkers(instance{hosts: 2, chips: 8}, 1, &out)
	address := listen(t, m.answer)
	through := listen(t, func(ctx context.Context, c net.Conn) { relay(ctx, address, c) })
	client := dial(t, through)
	lines := bufio.NewScanner(client)
	wants := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, %v, want %q", lines.Text(), lines.Err(), want)
		}
	}
	wants("0/2 workers 0/8 chips")
	first := report(t, address, "worker 0 0 2 a")
	wants("1/2 workers 4/8 chips")
	again := report(t, address, "worker 0 0 2 a")
	for strings.Count(out.text(), "a has come") < 2 { // the connections are served in any order
		if t.Context().Err() != nil {
			t.Fatal(out.text())
		}
	}
	second := report(t, address, "worker 0 1 2 b")
	wants("2/2 workers 8/8 chips")
	_ = second.Close()
	wants("1/2 workers 4/8 chips")
	if got := strings.Count(out.text(), "*** 1/1 Pathways Slices Now Ready ***"); got != 1 {
		t.Errorf("ready %d times:\n%s", got, out.text())
	}
	_ = first.Close() // another connection took its place
	_ = again.Close()
	wants("0/2 workers 0/8 chips")
}

// The resource manager refuses what is none of the hosts it expects.
func TestStrangersAreRefused(t *testing.T) {
	var out output
	address := listen(t, newWorkers(instance{hosts: 2, chips: 8}, 1, &out).answer)
	for _, line := range []string{"worker 0 2 2 x", "worker 1 0 2 x", "worker 0 0 3 x", "worker 0 -1 2 x"} {
		answer, _ := bufio.NewReader(report(t, address, line)).ReadString('\n')
		if !strings.HasPrefix(answer, "The newly added instance does not match with the expected instances") {
			t.Errorf("%s: %q", line, answer)
		}
	}
}

// A worker waits for a resource manager that isn't there yet, and all end when they are told to.
func TestWorkerWaitsForTheManager(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	free := listen(t, nil)
	var out output
	w := worker{id: 0, hosts: 1, name: "a"}
	done := make(chan error)
	go func() { done <- w.report(ctx, free, &out) }()
	for !strings.Contains(out.text(), "no resource manager yet") {
		if ctx.Err() != nil {
			t.Fatal(out.text())
		}
	}
	port, err := new(net.ListenConfig).Listen(ctx, "tcp", free)
	if err != nil {
		t.Fatal(err)
	}
	m := newWorkers(instance{hosts: 1, chips: 4}, 1, &out)
	go func() { done <- serve(ctx, port, m.answer) }()
	lines := bufio.NewScanner(report(t, free, "watch"))
	for lines.Scan() && lines.Text() != "1/1 workers 4/4 chips" {
		continue
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// listen serves on a free port; without a function it only finds one.
func listen(t *testing.T, answer func(context.Context, net.Conn)) string {
	port, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if answer == nil {
		_ = port.Close()
	} else {
		go func() { _ = serve(t.Context(), port, answer) }()
	}
	return port.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// report connects and says a line.
func report(t *testing.T, address, line string) net.Conn {
	c := dial(t, address)
	fmt.Fprintln(c, line)
	return c
}
