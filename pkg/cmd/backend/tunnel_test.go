package backend

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

func TestParsePorts(t *testing.T) {
	for text, want := range map[string]string{
		"6006":      "{6006 6006}",
		"8080:80":   "{8080 80}",
		"0:6006":    "{0 6006}",
		":6006":     "{0 6006}",
		"0":         `"0": which port of the job? For any free port here, write 0:REMOTE, such as 0:6006`,
		"80:0":      `"80:0": a job has no port 0`,
		"":          `"": expected LOCAL[:REMOTE]`,
		"http":      `"http": expected LOCAL[:REMOTE]`,
		"80:80:80":  `"80:80:80": expected LOCAL[:REMOTE]`,
		"65536":     `"65536": expected LOCAL[:REMOTE]`,
		"-1":        `"-1": expected LOCAL[:REMOTE]`,
		"localhost": `"localhost": expected LOCAL[:REMOTE]`,
	} {
		ports, err := ParsePorts(text)
		got := fmt.Sprint(ports)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestListen(t *testing.T) {
	first, err := Listen(Ports{0, 80})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if first.Local == 0 || first.Remote != 80 || first.Address() != fmt.Sprintf("127.0.0.1:%d", first.Local) {
		t.Errorf("got %+v", first)
	}
	want := fmt.Sprintf("port %d: already in use on this machine: choose another, as in %d:80, or any free one with 0:80", first.Local, first.Local+1)
	if _, err := Listen(Ports{first.Local, 80}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := net.Dial("tcp", first.Address()); err != nil {
		t.Error(err)
	}
}

func TestEachPodIsToldOnce(t *testing.T) {
	none, a, b := kube.Pod{}, kube.Pod{Name: "a", Container: "1"}, kube.Pod{Name: "a", Container: "2"}
	var before kube.Pod
	var said []string
	for _, now := range []kube.Pod{none, a, none, b, {Name: "c"}} {
		said = append(said, changed(before, now))
		if now != none {
			before = now
		}
	}
	want := []string{"", "", "pod a is no longer running: connections wait for the next one", "forwarding to pod a now", "forwarding to pod c now"}
	if !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

// A browser that tries again and again fills no terminal.
func TestEqualFailuresAreToldOnce(t *testing.T) {
	tunnel := &Tunnel{}
	refused := &podconn.RefusedError{Port: podconn.Port{Pod: "a", Number: 80}, Said: "failed to execute portforward in network namespace"}
	var said []string
	for _, err := range []error{refused, fmt.Errorf("connecting: %w", refused), errors.New("the network is gone"), refused} {
		tunnel.failed(err, func(text string) { said = append(said, text) })
	}
	want := []string{"nothing listens on port 80 of pod a yet", "the network is gone", "nothing listens on port 80 of pod a yet"}
	if !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
