package adversary

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// ends replace the process while clients send requests over persistent connections: none may be lost (RFC 9112
// section 9.6).
func (s *stage) ends() []payload {
	restart := payload{name: "a restart under 64 busy connections", section: "RFC 9112 section 9.6", shows: "SIGTERM"}
	restart.play = s.restarts
	stuck := payload{name: "SIGTERM while a request hangs", section: "docs/operations.md", shows: "SIGTERM"}
	stuck.play = func(ctx context.Context) error {
		d, err := s.start(ctx, "URND_LIMITS_SHUTDOWN_TIMEOUT=1s", "URND_LIMITS_ORIGIN_TIMEOUT=1h")
		if err != nil {
			return err
		}
		defer d.kill()
		target := "/hang/" + s.id()
		s.origin.on(target, s.origin.hangs)
		conn, err := connect(ctx, d.service, friend)
		if err != nil {
			return err
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET http://%s%s HTTP/1.1\r\nHost: a\r\n\r\n", s.origin.address, target)
		if err := eventually(ctx, inTime, func() error {
			if s.origin.saw(target) == nil {
				return errors.New("the request does not reach the origin")
			}
			return nil
		}); err != nil {
			return err
		}
		stopping, cancel := context.WithTimeout(ctx, inTime)
		defer cancel()
		return d.stop(stopping)
	}
	return inFamily("ends", []payload{restart, stuck})
}

// restarts stops a process with an inherited socket and starts another one on it.
func (s *stage) restarts(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer socket.Close()
	begin := func() (*daemon, error) {
		directory := filepath.Join(s.directory, s.id())
		if err := os.Mkdir(directory, 0o700); err != nil {
			return nil, err
		}
		return launch(ctx, s.binary, directory, s.config(), []string{"LISTEN_FDS=1", "LISTEN_FDNAMES=http"}, socket)
	}
	first, err := begin()
	if err != nil {
		return err
	}
	defer first.kill()
	clients, stop := context.WithCancel(ctx)
	var answered, connections atomic.Int64
	var lost tally
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		many(64, func(int) { keepRequesting(clients, listener.Addr().String(), &answered, &connections, &lost) })
	}()
	defer func() { stop(); <-finished }()
	more := func() error {
		before := answered.Load()
		return eventually(ctx, inTime, func() error {
			if answered.Load() < before+2000 {
				return fmt.Errorf("only %d requests are answered", answered.Load()-before)
			}
			return nil
		})
	}
	if err := more(); err != nil {
		return err
	}
	if err := first.stop(ctx); err != nil {
		return err
	}
	second, err := begin()
	if err != nil {
		return err
	}
	defer second.kill()
	err = more()
	stop()
	<-finished
	if n := lost.sum(""); n > 0 {
		return fmt.Errorf("of %d requests over %d connections %d are lost: %s", answered.Load(), connections.Load(),
			n, &lost)
	}
	return err
}

// keepRequesting sends requests over a connection while the server keeps it open, and then over another one, until
// ctx ends.
func keepRequesting(ctx context.Context, address string, answered, connections *atomic.Int64, lost *tally) {
	for ctx.Err() == nil {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			if ctx.Err() == nil {
				lost.add(err.Error())
			}
			return
		}
		connections.Add(1)
		_ = conn.SetDeadline(time.Now().Add(inTime))
		requestOver(ctx, conn, answered, lost)
		conn.Close()
	}
}

func requestOver(ctx context.Context, conn net.Conn, answered *atomic.Int64, lost *tally) {
	reader := bufio.NewReader(conn)
	for n := 0; ctx.Err() == nil; n++ {
		_, err := io.WriteString(conn, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\n\r\n")
		var response *http.Response
		if err == nil {
			response, err = http.ReadResponse(reader, nil)
		}
		if err != nil {
			lost.add(fmt.Sprintf("request %d of a connection: %T", min(n, 1), err))
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		answered.Add(1)
		if response.Close {
			return
		}
	}
}
