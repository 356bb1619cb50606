package podconn

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	constants "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/websocket"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// silence is how long the other end of a connection may say nothing: it answers a ping every portforward.PingPeriod.
const silence = time.Minute

// socketDialer connects by a WebSocket that has streams of SPDY in it. Unlike that of client-go, a connection ends when the
// other end no longer answers: that of a laptop that was asleep would hang for a quarter of an hour.
type socketDialer struct {
	ctx    context.Context // of Dial, whose interface has none
	config *rest.Config
	url    *url.URL
}

func (d socketDialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	transport, holder, err := websocket.RoundTripperFor(d.config)
	if err != nil {
		return nil, "", err
	}
	request, err := http.NewRequestWithContext(d.ctx, http.MethodGet, d.url.String(), nil)
	if err != nil {
		return nil, "", err
	}
	tunnels := make([]string, len(protocols))
	for i, p := range protocols {
		tunnels[i] = constants.WebsocketsSPDYTunnelingPrefix + p
	}
	socket, err := websocket.Negotiate(transport, holder, request, tunnels...)
	if err != nil {
		return nil, "", err
	}
	answers := answering{portforward.NewTunnelingConnection("client", socket), silence}
	way, err := spdy.NewClientConnectionWithPings(answers, portforward.PingPeriod)
	return way, strings.TrimPrefix(socket.Subprotocol(), constants.WebsocketsSPDYTunnelingPrefix), err
}

// answering is a connection whose other end answers pings. A Read fails if nothing came for the time silence.
type answering struct {
	net.Conn
	silence time.Duration
}

func (c answering) Read(data []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(data)
}
