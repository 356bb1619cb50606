package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"testing"
)

// The errors come from the operating system itself, so that the test holds on each.
func TestErrorsOfThisSystem(t *testing.T) {
	tests := map[string]struct {
		cause func(*testing.T) error
		is    func(error) bool
	}{
		"a closed pipe":     {writeToAClosedPipe, IsClosedPipe},
		"nothing listens":   {dialNobody, IsRefused},
		"an address in use": {listenTwice, IsInUse},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.cause(t)
			if err == nil {
				t.Fatal("no error")
			}
			for other, tc := range tests {
				if got := tc.is(err); got != (other == name) {
					t.Errorf("%v: %s: %v", err, other, got)
				}
			}
		})
	}
	for name, tc := range tests {
		for _, err := range []error{nil, errors.New("another"), fs.ErrNotExist} {
			if tc.is(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A connection that breaks says nothing about the reader of the output.
func TestABrokenConnectionIsNoClosedPipe(t *testing.T) {
	pipe := writeToAClosedPipe(t)
	connection := &url.Error{Op: "Post", URL: "https://api.example", Err: &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", brokenPipe)}}
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"a pipe":                  {fmt.Errorf("printing: %w", pipe), true},
		"a connection":            {fmt.Errorf("reading: %w", connection), false},
		"a pipe and a connection": {errors.Join(connection, pipe), true},
		"two connections":         {errors.Join(connection, fmt.Errorf("again: %w", connection)), false},
		"a bare number":           {brokenPipe, true},
	} {
		if got := IsClosedPipe(tt.err); got != tt.want {
			t.Errorf("%s: %v: got %v", name, tt.err, got)
		}
	}
}

func writeToAClosedPipe(t *testing.T) error {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = w.Write([]byte("x"))
	return err
}

func dialNobody(t *testing.T) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = net.Dial("tcp", l.Addr().String())
	return err
}

func listenTwice(t *testing.T) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = net.Listen("tcp", l.Addr().String())
	return err
}
