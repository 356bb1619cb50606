//go:build unix

package main

import (
	"context"
	"net"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// delayed listens on a free port until ctx ends, and passes connections on to an address with a round trip more. It returns the port's address.
func delayed(ctx context.Context, address string, roundTrip time.Duration) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				time.Sleep(roundTrip) // the handshake of TCP
				server, err := new(net.Dialer).DialContext(ctx, "tcp", address)
				if err != nil {
					_ = client.Close()
					return
				}
				go pass(client, server, roundTrip/2)
				pass(server, client, roundTrip/2)
			}()
		}
	}()
	return listener.Addr().String(), nil
}

// pass copies what a connection sends to another one, each piece after a delay, and then closes that.
func pass(from, to net.Conn, delay time.Duration) {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 1<<10)
	go func() {
		defer to.Close()
		for p := range pieces {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				_ = from.Close() // which ends the loop below
			}
		}
	}()
	defer close(pieces)
	for {
		data := make([]byte, 64<<10)
		n, err := from.Read(data)
		if n > 0 {
			pieces <- piece{data[:n], time.Now().Add(delay)}
		}
		if err != nil {
			return
		}
	}
}

// behind returns a change of a kubeconfig's cluster to an address that leads to it.
func behind(address string) func(*clientcmdapi.Cluster) {
	return func(c *clientcmdapi.Cluster) { c.Server = "https://" + address }
}
