package report

import (
	"bufio"
	"bytes"
	"io"
	"testing"
	"time"
)

// A job that takes long to end is no reason for silence.
func TestSlowly(t *testing.T) {
	reader, writer := io.Pipe()
	said := make(chan string)
	go func() {
		line, _ := bufio.NewReader(reader).ReadString('\n')
		said <- line
	}()
	var got string
	slowly(writer, 0, "it takes long", func() { got = <-said })
	if got != "it takes long\n" {
		t.Errorf("said %q", got)
	}
	var quiet bytes.Buffer
	if slowly(&quiet, time.Hour, "it takes long", func() {}); quiet.Len() > 0 {
		t.Errorf("said %q", &quiet)
	}
}
