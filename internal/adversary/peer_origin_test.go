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

// originHost is the one address that urnd may connect to although it is of loopback.
const originHost = "127.9.9.9"

// origin is an origin server, and a THTTP server, that answers as payloads want it to. It
// records what urnd sends.
type origin struct {
	address  string
	listener net.Listener
	done     chan struct{} // closed at the end: scripts that wait return

	mu      sync.Mutex
	scripts map[string]script
	seen    map[string]*http.Request
	garbage []string // what could not be parsed
}

// script answers a request in octets of its own, and reports whether the connection stays.
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

// on sets the script of a request-target, without its query where that has none of its own.
func (o *origin) on(target string, s script) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scripts[target] = s
}

// says is a script that sends octets, and closes the connection.
func says(octets string) script {
	return func(conn net.Conn, _ *http.Request) bool {
		_, _ = io.WriteString(conn, octets)
		return false
	}
}

// hangs is a script that answers nothing.
func (o *origin) hangs(net.Conn, *http.Request) bool {
	<-o.done
	return false
}

// page answers a request as an ordinary server does.
func page(conn net.Conn, _ *http.Request) bool {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nyes")
	return err == nil
}

// saw returns the request for a target that has reached the origin, nil for none.
func (o *origin) saw(target string) *http.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen[target]
}

// confusion returns an error where urnd has sent what is no request.
func (o *origin) confusion() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.garbage) == 0 {
		return nil
	}
	err := fmt.Errorf("the origin got what is no request: %s", o.garbage[0])
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
			// A body that urnd cut off is no request: the connection ends with it.
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

// script records a request, and returns its script, nil for none.
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

// note records why the next request could not be read, unless the connection has ended.
func (o *origin) note(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed) {
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
