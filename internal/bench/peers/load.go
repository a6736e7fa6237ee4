//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
)

// load sends the requests of a row over a number of persistent connections; each sends the next requests when
// all previous responses are complete. One goroutine waits for all sockets with epoll(7), because it must use
// less CPU time than the fastest server.
type load struct {
	address netip.AddrPort
	request func(n uint64) []byte // bytes of one write
	replies int                   // responses to one write; more than 1 for pipelining
	status  int                   // of each response
	length  int                   // of each body
	closes  bool                  // close each connection after its response, even if the server does not
	poll    int                   // descriptor of epoll
	clients map[int32]*client
	buffer  []byte
	sent    uint64
	tally   tally
}

// tally contains the counters since the last reset.
type tally struct {
	replies   int
	errors    int
	first     error    // first error
	reopened  int      // connections closed by the server between two responses
	stalled   int      // connections that are still waiting for an earlier response
	latencies []uint32 // of the responses, in microseconds
}

// client is a connection with the requests of one write in flight.
type client struct {
	fd     int
	start  time.Time // time of the write
	awaits int       // number of incomplete responses
	head   []byte    // received part of an incomplete head
	body   int       // missing bytes of the body; -1 before its head is complete
	close  bool      // after this response
	served bool      // the connection has received a response
}

// newLoad opens the connections and sends the first requests. The caller must close it.
func newLoad(address string, connections int) (*load, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return &load{
		address: at, replies: 1, poll: poll,
		clients: make(map[int32]*client, connections), buffer: make([]byte, 4*block),
	}, nil
}

func (l *load) close() {
	for _, c := range l.clients {
		_ = syscall.Close(c.fd)
	}
	_ = syscall.Close(l.poll)
}

// open connects and sends a request.
func (l *load) open() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	c, start := &client{fd: fd}, time.Now()
	if err := l.connect(c); err != nil {
		_ = syscall.Close(fd)
		return err
	}
	l.clients[int32(fd)] = c //nolint:gosec // descriptors are small
	err = l.send(c)
	if l.closes {
		c.start = start
	}
	return err
}

func (l *load) connect(c *client) error {
	to := &syscall.SockaddrInet4{Port: int(l.address.Port()), Addr: l.address.Addr().As4()}
	if err := syscall.Connect(c.fd, to); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := syscall.SetNonblock(c.fd, true); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := syscall.SetsockoptInt(c.fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(c.fd)} //nolint:gosec // descriptors are small
	if err := syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_ADD, c.fd, &event); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// send sends the next requests. They are short enough for the socket buffer.
func (l *load) send(c *client) error {
	request := l.request(l.sent)
	l.sent++
	c.head, c.body, c.close, c.awaits, c.start = c.head[:0], -1, false, l.replies, time.Now()
	if n, err := syscall.Write(c.fd, request); err != nil || n < len(request) {
		return fmt.Errorf("sending requests: %d of %d bytes: %w", n, len(request), err)
	}
	return nil
}

// run continues for a time, and returns the counters and the exact time.
func (l *load) run(ctx context.Context, d time.Duration, connections int) (tally, time.Duration, error) {
	l.tally = tally{latencies: l.tally.latencies[:0]}
	start := time.Now()
	events := make([]syscall.EpollEvent, connections)
	for ctx.Err() == nil {
		for len(l.clients) < connections {
			if err := l.open(); err != nil {
				return tally{}, 0, err
			}
		}
		left := d - time.Since(start)
		if left <= 0 {
			break
		}
		n, err := syscall.EpollWait(l.poll, events, int(min(left.Milliseconds()+1, 100)))
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return tally{}, 0, fmt.Errorf("epoll: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			l.ready(l.clients[e.Fd])
		}
	}
	for _, c := range l.clients {
		if c.start.Before(start) {
			l.tally.stalled++
		}
	}
	return l.tally, time.Since(start), ctx.Err()
}

// ready reads once from a readable socket. A connection that fails, or is closed by the server, is replaced by
// run.
func (l *load) ready(c *client) {
	n, err := syscall.Read(c.fd, l.buffer)
	switch {
	case errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR):
		return
	case err == nil && n > 0:
		err = l.received(c, l.buffer[:n])
	case c.served && c.awaits == l.replies && c.body < 0 && len(c.head) == 0:
		l.tally.reopened++ // RFC 9112 section 9.5: a server may close at any time
		l.drop(c)
		return
	case err == nil:
		err = errors.New("the server has closed the connection before the end of the reply")
	}
	if err != nil {
		l.tally.errors++
		if l.tally.first == nil {
			l.tally.first = err
		}
	}
	if err != nil || c.close && c.body < 0 {
		l.drop(c)
	}
}

func (l *load) drop(c *client) {
	_ = syscall.Close(c.fd)
	delete(l.clients, int32(c.fd)) //nolint:gosec // descriptors are small
}

// received processes bytes of responses; at the end of the last awaited one it sends the next requests.
func (l *load) received(c *client, data []byte) error {
	var elapsed uint32 // the clock is read once for all responses received together
	for {
		if c.body < 0 {
			var err error
			if data, err = l.receivedHead(c, data); err != nil || c.body < 0 {
				return err
			}
		}
		if c.body > len(data) {
			c.body -= len(data)
			return nil
		}
		data, c.body, c.served = data[c.body:], -1, true
		c.awaits--
		l.tally.replies++
		if elapsed == 0 {
			elapsed = uint32(time.Since(c.start).Microseconds()) //nolint:gosec // less than an hour
		}
		l.tally.latencies = append(l.tally.latencies, elapsed)
		switch {
		case len(data) > 0 && (c.close || c.awaits == 0):
			return fmt.Errorf("%d bytes after the reply", len(data))
		case l.closes:
			c.close = true
			return nil
		case c.close:
			l.tally.reopened++ // unanswered requests are not counted
			return nil
		case c.awaits == 0:
			return l.send(c)
		case len(data) == 0:
			return nil
		}
	}
}

// receivedHead returns the bytes after the head. Most heads arrive complete and are not copied.
func (l *load) receivedHead(c *client, data []byte) ([]byte, error) {
	if len(c.head) > 0 {
		c.head = append(c.head, data...)
		data = c.head
	}
	h, err := parseHead(data)
	if errors.Is(err, errPartial) {
		if len(c.head) == 0 {
			c.head = append(c.head, data...)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h.status != l.status || h.length != l.length {
		return nil, fmt.Errorf("status %d and %d bytes instead of %d and %d", h.status, h.length, l.status, l.length)
	}
	c.head, c.body, c.close = c.head[:0], h.length, h.close
	return data[h.size:], nil
}
