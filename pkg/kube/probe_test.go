package kube

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// python runs lines in a Python that has read the program as probe.
func python(t *testing.T, lines ...string) string {
	t.Helper()
	load := "import sys, types; probe = types.ModuleType('probe'); exec(sys.argv[1], probe.__dict__)"
	out, err := exec.Command("python3", "-S", "-c", strings.Join(append([]string{load}, lines...), "\n"), probeProgram).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// group makes a control group of files, as Python.
func group(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	lines := []string{"import os", fmt.Sprintf("probe.GROUP = %q + '/'", dir), "probe.MOMENT = 0.01"}
	for name, text := range files {
		lines = append(lines, fmt.Sprintf("os.makedirs(os.path.dirname(probe.GROUP + %q), exist_ok=True); open(probe.GROUP + %[1]q, 'w').write(%q)", name, text))
	}
	return strings.Join(lines, "\n")
}

func TestControlGroups(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"version 2": {map[string]string{"cpu.stat": "usage_usec 2500000\nuser_usec 1\n", "memory.current": "1000\n", "memory.stat": "anon 5\ninactive_file 300\n"}, "2.5 700"},
		"version 1": {map[string]string{"cpuacct/cpuacct.usage": "1500000000\n", "memory/memory.usage_in_bytes": "1000\n", "memory/memory.stat": "total_inactive_file 1\n"}, "1.5 999"},
		"neither":   {nil, "None None"},
	} {
		if got := python(t, group(t, tt.files), "print(probe.seconds(), probe.memory())"); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

const metrics = `# HELP duty_cycle Percent of time over the past sample period during which the accelerator was active.
duty_cycle{accelerator_id="0",container="worker",make="cloud-tpu",namespace="ml",pod="train-0"} 90
duty_cycle{accelerator_id="1",container="worker",make="cloud-tpu",namespace="ml",pod="train-0"} 7e1
duty_cycle{accelerator_id="2",container="worker",make="cloud-tpu",namespace="ml",pod="train-01"} 1
duty_cycle_node{pod="train-0"} 5
`

// The node reports the chips of all its pods.
func TestDuty(t *testing.T) {
	serve := []string{"import http.server, socketserver, threading", "class Metrics(http.server.BaseHTTPRequestHandler):",
		"    def do_GET(self):", "        self.send_response(200); self.end_headers(); self.wfile.write(" + fmt.Sprintf("%q", metrics) + ".encode())", "    def log_message(self, *_): pass",
		"server = socketserver.TCPServer(('127.0.0.1', 0), Metrics); threading.Thread(target=server.serve_forever, daemon=True).start()", "probe.PORT = server.server_address[1]"}
	for pod, want := range map[string]string{"train-0": "80.0", "train-01": "1.0", "another": "None"} {
		if got := python(t, append(serve, fmt.Sprintf("print(probe.duty('127.0.0.1', %q))", pod))...); got != want {
			t.Errorf("%s: got %s, want %s", pod, got, want)
		}
	}
}

func TestProgram(t *testing.T) {
	files := group(t, map[string]string{"cpu.stat": "usage_usec 2500000\n", "memory.current": "1000\n"})
	u, err := ReadProbe([]byte(python(t, files, "probe.main('', 'p', False)")))
	if err != nil || u.CPU == nil || *u.CPU != 0 || u.Memory == nil || *u.Memory != 1000 || u.Duty != nil {
		t.Errorf("got %+v, %v", u, err)
	}
	if u, err = ReadProbe([]byte(python(t, group(t, nil), "probe.main('', 'p', False)"))); err != nil || u.CPU != nil || u.Memory != nil {
		t.Errorf("of no control group: %+v, %v", u, err)
	}
	if _, err := ReadProbe([]byte("no module")); err == nil {
		t.Error("what is not JSON was read")
	}
	argv := ProbeArgv(api.Host{Pod: "p", NodeIP: "10.0.0.1"}, true)
	if got := strings.Join(append(argv[:3:3], argv[4:]...), " "); got != "python3 -S -c 10.0.0.1 p accelerators" {
		t.Errorf("got %s", got)
	}
}
