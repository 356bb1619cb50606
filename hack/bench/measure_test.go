//go:build unix

package main

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// large is more than a small command takes, and Python with nothing to do.
const large = 200 << 20

func TestMemoryIsThatOfTheCommandAlone(t *testing.T) {
	ballast := make([]byte, large)
	for i := range ballast {
		ballast[i] = 1
	}
	small, err := once(exec.CommandContext(t.Context(), "sh", "-c", ":"))
	if err != nil {
		t.Fatal(err)
	}
	much, err := once(exec.CommandContext(t.Context(), "python3", "-c", "x = b'x' * (200 << 20)"))
	if err != nil {
		t.Fatal(err)
	}
	if small.rss == 0 || small.rss >= large/4 || much.rss < large || ballast[large-1] != 1 {
		t.Errorf("sh took %d bytes and Python %d, want less than %d and at least %d", small.rss, much.rss, large/4, large)
	}
}

func TestACommandThatFailsIsNamedWithWhatItSaid(t *testing.T) {
	_, err := once(exec.CommandContext(t.Context(), "sh", "-c", "echo no such thing >&2; exit 3"))
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("got %v, want exit code 3", err)
	}
	if text := err.Error(); !strings.Contains(text, "sh -c echo") || !strings.HasSuffix(text, "no such thing\n") {
		t.Errorf("got %q, want the command and what it said", text)
	}
}

func TestABenchmarkThatFailsDoesNotEndTheOthers(t *testing.T) {
	var out strings.Builder
	b := &bench{out: tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)}
	broken := errors.New("no cluster\nand more")
	var ran []string
	note := func(name string, err error) benchmark[*bench] {
		return benchmark[*bench]{name, func(*bench, context.Context) error {
			ran = append(ran, name)
			return err
		}}
	}
	list := []benchmark[*bench]{note("a", nil), note("b", broken), note("c", nil)}
	err := measure(t.Context(), b, list, b, "")
	if !errors.Is(err, broken) || !slices.Equal(ran, []string{"a", "b", "c"}) {
		t.Errorf("ran %v with error %v, want all of them and the error of b", ran, err)
	}
	if got := out.String(); got != "b  failed: no cluster      \n" {
		t.Errorf("printed %q", got)
	}
}
