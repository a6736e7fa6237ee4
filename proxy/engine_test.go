package proxy_test

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http1"
	"github.com/urnd/urnd/proxy/http2"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/problem"
)

// engine is a server with both protocols, whose configuration a test may change before it serves.
type engine struct {
	listen listen.ServerConfig
	http1  http1.Config
	http2  http2.Config
}

// newEngine returns the engine of a handler, by TLS unless secure is nil.
func newEngine(handler httpmessage.Handler, secure *tls.Config, panicked func(value any, stack []byte)) *engine {
	log := slog.New(slog.DiscardHandler)
	deadline := func() time.Time { return time.Now().Add(bodyTimeout) }
	return &engine{
		listen: listen.ServerConfig{Now: time.Now, Log: log, TLS: secure, HeaderTimeout: 5 * time.Second, ShutdownTimeout: 5 * time.Second},
		http1: http1.Config{
			Handler: handler, Now: time.Now, Panicked: panicked, MaxTarget: maxTarget, MaxHeader: 4096, HeaderTimeout: 5 * time.Second,
			IdleTimeout: 5 * time.Second, BodyDeadline: deadline,
			Refusal: func(r *httpmessage.Incoming, status int, reason string, plain bool) (int, string, []byte) {
				return problem.Short(problem.Malformed(status, reason, r.Target, maxTarget, plain))
			},
		},
		http2: http2.Config{
			Handler: handler, Now: time.Now, Log: log, Panicked: panicked, MaxHeader: 4096, HeaderTimeout: 5 * time.Second,
			IdleTimeout: 5 * time.Second, BodyDeadline: deadline,
		},
	}
}

// serve serves a listener until ctx ends.
func (e *engine) serve(ctx context.Context, listener net.Listener) error {
	text, streams := http1.NewServer(e.http1), http2.NewServer(e.http2)
	defer streams.Close()
	e.listen.Serve = func(c *listen.Conn) { //nolint:contextcheck // a handshake ends with its connection
		switch protocol, err := c.Handshake(); {
		case errors.Is(err, listen.ErrPlainHTTP):
			text.RefusePlain(c)
		case err != nil:
		case protocol == "h2":
			streams.Serve(c)
		default:
			text.Serve(c)
		}
	}
	return listen.NewServer(e.listen).Serve(ctx, listener)
}
