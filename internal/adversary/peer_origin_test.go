package adversary

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
)

// originHost is the only loopback address to which urnd may connect.
const originHost = "127.9.9.9"

// origin is an origin server and a THTTP server that responds as payloads require. It records the requests of
// urnd.
type origin struct {
	address  string
	listener net.Listener
	done     chan struct{} // closed at the end: waiting scripts return

	mu      sync.Mutex
	scripts map[string]script
	seen    map[string]*http.Request
	garbage []string // requests that could not be parsed
}

// script responds to a request with arbitrary bytes, and reports whether the connection persists.
type script func(conn net.Conn, r *http.Request) bool

func newOrigin() (*origin, error) {
	listener, err := net.Listen("tcp", originHost+":0")
	if err != nil {
		return nil, err
	}
	o := &origin{
		address: listener.Addr().String(), listener: listener, done: make(chan struct{}),
		scripts: make(map[string]script), seen: make(map[string]*http.Request),
	}
	go o.run()
	return o, nil
}

// on sets the script of a request-target. A target without a query applies to all queries without their own
// script.
func (o *origin) on(target string, s script) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scripts[target] = s
}

// respond is a script that sends bytes and closes the connection.
func respond(data string) script {
	return func(conn net.Conn, _ *http.Request) bool {
		_, _ = io.WriteString(conn, data)
		return false
	}
}

// hangs is a script that does not respond.
func (o *origin) hangs(net.Conn, *http.Request) bool {
	<-o.done
	return false
}

// page responds to a request like an ordinary server.
func page(conn net.Conn, _ *http.Request) bool {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nyes")
	return err == nil
}

// saw returns the request for a target received by the origin, or nil.
func (o *origin) saw(target string) *http.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen[target]
}

// confusion returns an error if urnd has sent an invalid request.
func (o *origin) confusion() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.garbage) == 0 {
		return nil
	}
	err := fmt.Errorf("the origin got an invalid request: %s", o.garbage[0])
	o.garbage = nil
	return err
}

func (o *origin) run() {
	for {
		conn, err := o.listener.Accept()
		if err != nil {
			return
		}
		go o.serve(conn)
	}
}

func (o *origin) serve(conn net.Conn) {
	defer conn.Close()
	for reader := bufio.NewReaderSize(conn, 64<<10); ; {
		r, err := http.ReadRequest(reader)
		if err != nil {
			o.note(err)
			return
		}
		answer := o.script(r)
		if answer == nil {
			// A body truncated by urnd is not a request: the connection ends with it.
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			answer = page
		}
		if !answer(conn, r) {
			return
		}
	}
}

// script records a request, and returns its script, or nil.
func (o *origin) script(r *http.Request) script {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[r.RequestURI] = r
	if s := o.scripts[r.RequestURI]; s != nil {
		return s
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return o.scripts[path]
}

// note records why the next request could not be parsed, unless the connection has ended.
func (o *origin) note(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, net.ErrClosed) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.garbage = append(o.garbage, err.Error())
}

func (o *origin) close() {
	close(o.done)
	o.listener.Close()
}
