//go:build e2e

package dialogs

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"
)

// dialog is the input of a client on one connection.
type dialog struct {
	name  string
	at    func(*world) string // address; nil: the service
	from  string              // client address; "" is localClient
	tls   bool
	steps []step
	// play replaces steps if a dialog is not a series of requests on one HTTP/1 connection.
	play func(*world, *normalizer) (lines []string, responses int, err error)
}

// step is data to send, followed by an action of the client.
type step struct {
	send string
	// Methods of the requests that end in this step, which determine the number of final responses; nil: one
	// request, whose method begins send.
	methods  []string
	waits    bool // no response is read: the request continues in the next step
	again    bool // the request is not sent if the previous response has announced that the connection is closed
	interim  bool // an interim response is sufficient
	consumed bool // before the next step, urnd has read all data of this one
	fin      bool // the client sends FIN
	tunnel   int  // number of bytes read in a tunnel, instead of responses
	before   func(*world)
	after    func(*world)
}

// request composes a request without a body from a request line and fields.
func request(line string, fields ...string) string {
	return line + "\r\n" + strings.Join(append(fields, "", ""), "\r\n")
}

// get composes an HTTP/1.1 GET request for a target with the default Host.
func get(target string, fields ...string) string {
	return request("GET "+target+" HTTP/1.1", append([]string{"Host: urnd.example"}, fields...)...)
}

// once is a dialog of one request.
func once(name, send string) dialog { return dialog{name: name, steps: []step{{send: send}}} }

// twice is a dialog of a request that is repeated after its response: a cache miss and, if it is stored, a hit.
func twice(name, send string) dialog {
	return dialog{name: name, steps: []step{{send: send}, {send: send, again: true}}}
}

// pipelined is a dialog of requests sent in one write.
func pipelined(name string, requests ...string) dialog {
	return dialog{name: name, steps: []step{{send: strings.Join(requests, ""), methods: methodsOf(requests)}}}
}

func methodsOf(requests []string) []string {
	var methods []string
	for _, r := range requests {
		methods = append(methods, methodOf(r))
	}
	return methods
}

func methodOf(text string) string {
	text = strings.TrimLeft(text, "\r\n")
	method, _, _ := strings.Cut(text, " ")
	return method
}

// connection is the connection of a dialog with its recording.
type connection struct {
	net.Conn
	reader    *bufio.Reader
	world     *world
	normal    *normalizer
	lines     []string
	sent      string // by the last step
	responses int
	closing   bool  // announced by the last response, or FIN was sent
	ended     error // why reading ended
}

func (d dialog) connect(w *world, n *normalizer) (*connection, error) {
	at := w.service()
	if d.tls {
		at = w.secure()
	}
	if d.at != nil {
		at = d.at(w)
	}
	from := d.from
	if from == "" {
		from = localClient
	}
	dialer := net.Dialer{
		Timeout:   waitLimit,
		LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0)),
	}
	conn, err := dialer.Dial("tcp", at)
	if err != nil {
		return nil, err
	}
	if d.tls {
		conn = tls.Client(conn, &tls.Config{
			InsecureSkipVerify: true, ServerName: "urnd.example",
			NextProtos: []string{"http/1.1"},
		})
	}
	return &connection{Conn: conn, reader: bufio.NewReaderSize(conn, 64<<10), world: w, normal: n}, nil
}

// record plays a dialog, and returns the sent and received data as lines.
func (d dialog) record(w *world, n *normalizer, probe string) (lines []string, responses int, err error) {
	if d.play != nil {
		return d.play(w, n)
	}
	c, err := d.connect(w, n)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	for _, s := range d.steps {
		// The request might arrive after the end of the connection and cause a reset.
		if c.ended != nil || c.closing && s.again {
			break
		}
		if s.before != nil {
			s.before(w)
		}
		if err := c.step(s); err != nil {
			return nil, 0, err
		}
		if s.after != nil {
			s.after(w)
		}
	}
	c.fate(probe)
	return c.lines, c.responses, nil
}

// step sends data and reads the responses.
func (c *connection) step(s step) error {
	if s.send != "" && s.send == c.sent {
		c.lines = append(c.lines, "> [the same again]")
	} else {
		c.lines = append(c.lines, sentLines(s.send)...)
	}
	c.sent = s.send
	written := make(chan struct{})
	go func() {
		defer close(written)
		_ = c.SetWriteDeadline(time.Now().Add(waitLimit))
		_, _ = io.WriteString(c.Conn, s.send) // a closed connection is detected by the data received
	}()
	if len(s.send) < 16<<10 || s.waits || s.fin {
		<-written
	}
	if s.fin {
		c.lines = append(c.lines, "| FIN")
		c.closing = true
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}
	if s.consumed {
		if err := c.awaitConsumed(); err != nil {
			return err
		}
	}
	switch {
	case s.waits:
	case s.tunnel > 0:
		c.readTunnel(s.tunnel)
	default:
		methods := s.methods
		if methods == nil {
			methods = []string{methodOf(s.send)}
		}
		for _, method := range methods {
			if !c.readFinal(method, s.interim) {
				break
			}
		}
	}
	return nil
}

// readFinal reads a response including preceding interim responses, and reports whether reading can continue.
func (c *connection) readFinal(method string, interim bool) bool {
	for {
		r, ok := c.read(method)
		if !ok {
			return false
		}
		c.lines = append(c.lines, r.lines...)
		if r.status >= 200 || r.status == 101 {
			return true
		}
		if interim {
			return true
		}
	}
}

// read reads a response, and records in the connection whether it is closing.
func (c *connection) read(method string) (received, bool) {
	_ = c.SetReadDeadline(time.Now().Add(waitLimit))
	r, err := readResponse(c.reader, method)
	if err == nil || r.head != "" {
		c.responses++
		c.closing = c.closing || r.closing
		r.lines = r.render(c.normal)
	}
	c.ended = err
	return r, err == nil || r.head != ""
}

func (c *connection) readTunnel(size int) {
	_ = c.SetReadDeadline(time.Now().Add(waitLimit))
	bytes := make([]byte, size)
	n, err := io.ReadFull(c.reader, bytes)
	c.ended = err
	c.lines = append(c.lines, receivedLines(bytes[:n])...)
}

// fate determines the state of the connection without waiting for data that may not arrive: if the server has
// announced that it closes the connection, it is read to the end; otherwise one more request is sent.
func (c *connection) fate(probe string) {
	if c.ended == nil && !c.closing {
		_ = c.SetWriteDeadline(time.Now().Add(waitLimit))
		_, _ = io.WriteString(c.Conn, probeRequest)
		r, ok := c.read("GET")
		switch text := strings.Join(r.lines, "\n"); {
		case ok && text == probe:
			c.responses--
			c.lines = append(c.lines, "= kept alive")
			if _, ok = c.read("GET"); !ok && errors.Is(c.ended, io.EOF) {
				return
			}
		case ok:
			c.lines = append(c.lines, "= answered one more request otherwise than alone:")
			c.lines = append(c.lines, r.lines...)
		default:
			c.lines = append(c.lines, "= closed, which no response has said: "+fateOf(c.ended))
			return
		}
	}
	for c.ended == nil {
		r, ok := c.read("GET")
		if !ok {
			break
		}
		c.lines = append(c.lines, "= one more response:")
		c.lines = append(c.lines, r.lines...)
	}
	c.lines = append(c.lines, "= "+fateOf(c.ended))
}

// fateOf describes how a connection has ended.
func fateOf(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "closed"
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "closed in the middle"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "nothing was sent, and it was not closed"
	default:
		return err.Error()
	}
}

// awaitConsumed waits until urnd has read all bytes of the connection, so that the next data arrives in another
// read.
func (c *connection) awaitConsumed() error {
	for end := time.Now().Add(waitLimit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return err
		}
		own, other := procAddress(c.LocalAddr()), procAddress(c.RemoteAddr())
		unread, found := "", false
		for line := range bytes.Lines(table) { // proc(5): sl local_address rem_address st tx_queue:rx_queue
			words := strings.Fields(string(line))
			if len(words) > 4 && words[1] == other && words[2] == own {
				_, unread, found = strings.Cut(words[4], ":")
			}
			if len(words) > 4 && words[1] == own && words[2] == other && !strings.HasPrefix(words[4], "00000000:") {
				found = false // not even acknowledged
				break
			}
		}
		if found && unread == "00000000" {
			return nil
		}
	}
	return nil // it is not read; the recording shows the effect
}

// procAddress formats an address as in /proc/net/tcp.
func procAddress(a net.Addr) string {
	addr := netip.MustParseAddrPort(a.String())
	four := addr.Addr().Unmap().As4()
	return strings.ToUpper(hex.EncodeToString([]byte{four[3], four[2], four[1], four[0]})) +
		fmt.Sprintf(":%04X", addr.Port())
}

// probeRequest is sent to check that a connection is alive.
var probeRequest = get("/urn:plain:probe", "Connection: close")

// probeOf returns the response to probeRequest on a separate connection, once it is cached.
func probeOf(w *world, n *normalizer) (string, error) {
	text := ""
	for range 2 {
		c, err := dialog{}.connect(w, n)
		if err != nil {
			return "", err
		}
		if err := c.step(step{send: probeRequest}); err != nil {
			return "", err
		}
		c.Close()
		text = strings.Join(c.lines[len(sentLines(probeRequest)):], "\n")
	}
	return text, nil
}
