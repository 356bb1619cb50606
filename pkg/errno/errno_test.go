package errno

import (
	"errors"
	"io/fs"
	"net"
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
