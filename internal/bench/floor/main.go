//go:build linux

// Command floor measures a lower bound for a proxy in Go: the cost of a request that is not cached, with
// connections read by a loop of its own and by net/http; and a lower bound for a resolver of registered names.
// It listens on addresses for each of these and forwards requests to an origin, or redirects. It has no cache,
// log, rules or limits. docs/benchmarks.md contains the results.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

func main() {
	listen := flag.String("listen", "", "`addresses` of listeners, with commas")
	origin := flag.String("origin", "", "the `address` of the origin")
	mode := flag.String("mode", "loop", "loop or net-http, of a proxy; registry, of a resolver; or redirect, by TLS")
	store := flag.String("store", "", "the `file` of the registry")
	certificate := flag.String("certificate", "", "the `file` of the certificate and its key")
	location := flag.String("location", "", "the `URL` to redirect to")
	flag.Parse()
	if flag.Arg(0) == "version" {
		fmt.Println("in Go")
		return
	}
	serve := func(addresses []string) error { return run(addresses, *origin, *mode) }
	switch *mode {
	case "registry":
		serve = func(addresses []string) error { return serveNames(addresses, *store) }
	case "redirect":
		serve = func(addresses []string) error {
			return serveRedirect(addresses[0], addresses[1], *certificate, *location)
		}
	}
	if err := serve(strings.Split(*listen, ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addresses []string, origin, mode string) error {
	p := &proxy{origin: origin}
	failed := make(chan error, len(addresses))
	for _, address := range addresses {
		l, err := net.Listen("tcp", address) //nolint:noctx // listens until the process ends
		if err != nil {
			return fmt.Errorf("listening: %w", err)
		}
		go func() {
			if mode == "net-http" {
				failed <- http.Serve(l, p) //nolint:gosec // only for measurements on loopback
				return
			}
			failed <- p.loops(l)
		}()
	}
	return <-failed
}

// proxy forwards all requests to one origin.
type proxy struct {
	origin string
	mu     sync.Mutex
	idle   []*upstream
}

// upstream is a connection to the origin.
type upstream struct {
	conn net.Conn
	r    *bufio.Reader
}

// take returns the most recently used idle connection, or a new one.
func (p *proxy) take() (*upstream, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		u := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return u, nil
	}
	p.mu.Unlock()
	conn, err := net.Dial("tcp", p.origin) //nolint:noctx // as above
	if err != nil {
		return nil, fmt.Errorf("dialling the origin: %w", err)
	}
	return &upstream{conn, bufio.NewReaderSize(conn, 16<<10)}, nil
}

func (p *proxy) put(u *upstream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, u)
}

// ask sends a request, and appends the complete response to out.
func (p *proxy) ask(path, host string, out []byte) ([]byte, error) {
	u, err := p.take()
	if err != nil {
		return nil, err
	}
	head := make([]byte, 0, 256)
	head = append(append(append(append(append(head, "GET "...), path...), " HTTP/1.1\r\nHost: "...), host...),
		"\r\n\r\n"...)
	if _, err := u.conn.Write(head); err != nil {
		return nil, fmt.Errorf("writing: %w", err)
	}
	length := -1
	for {
		line, err := u.r.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("reading: %w", err)
		}
		out = append(out, line...)
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, fmt.Errorf("reading: %w", err)
			}
		}
		if len(line) == 2 {
			break
		}
	}
	if length < 0 {
		return nil, errNoLength
	}
	start := len(out)
	out = append(out, make([]byte, length)...)
	if _, err := io.ReadFull(u.r, out[start:]); err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	p.put(u)
	return out, nil
}

var errNoLength = errors.New("the origin does not say how long the body is")

// loops serves each connection in a loop.
func (p *proxy) loops(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return fmt.Errorf("accepting: %w", err)
		}
		go p.loop(conn)
	}
}

func (p *proxy) loop(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in, out := make([]byte, 0, 8<<10), make([]byte, 0, 64<<10)
	for {
		end := bytes.Index(in, []byte("\r\n\r\n"))
		for end < 0 {
			n, err := conn.Read(in[len(in):cap(in)])
			if err != nil {
				return
			}
			in = in[:len(in)+n]
			end = bytes.Index(in, []byte("\r\n\r\n"))
		}
		path, host := target(in[:end])
		var err error
		if out, err = p.ask(path, host, out[:0]); err != nil {
			return
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
		in = in[:copy(in, in[end+4:])]
	}
}

// target returns the path and host requested by a head.
func target(head []byte) (path, host string) {
	line, fields, _ := strings.Cut(string(head), "\r\n")
	_, line, _ = strings.Cut(line, " ")
	path, _, _ = strings.Cut(line, " ")
	if rest, ok := strings.CutPrefix(path, "http://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:], rest[:i]
		}
	}
	if _, value, ok := strings.Cut("\r\n"+fields, "\r\nHost: "); ok {
		host, _, _ = strings.Cut(value, "\r\n")
	}
	return path, host
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := p.ask(r.URL.RequestURI(), r.Host, make([]byte, 0, 4<<10))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	head, body, _ := bytes.Cut(out, []byte("\r\n\r\n"))
	for i, line := range strings.Split(string(head), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); i > 0 && ok {
			w.Header()[name] = []string{value}
		}
	}
	_, _ = w.Write(body)
}
