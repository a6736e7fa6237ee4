package proxy_test

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
)

// Sockets are read and written by system calls of the fast path itself. What is sent and observed is the same as in
// memory; when the server has answered a packet is known by what it has sent there.
func TestFastPathIsInvisibleByTCP(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	for i, s := range slices.Concat(boundaries(), readings(), every(3, 0, bodies())) {
		if isTimed(s) { // its time is another one
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			d := dialog{packets: s.packets}
			inMemory := play(t, filled, variants()[0], []dialog{d}, true)
			if isLong := strings.Contains(inMemory.heard[0].said(), "Connection: close"); isLong && i%10 > 0 {
				return // the server waits for half a second before it closes the connection
			}
			for _, fault := range inMemory.differences(playByTCP(t, filled, variants()[0], d, inMemory.heard[0]), variants()[0], []dialog{d}) {
				t.Error(fault)
			}
		})
	}
}

// isTimed reports whether what a conversation has depends on time.
func isTimed(s scripted) bool {
	return slices.ContainsFunc([]string{"takes long", "/slow", "pause", "later", "part of a body", "leaves"}, func(word string) bool {
		return strings.Contains(s.name, word)
	})
}

// What is on disk is sent from there to a socket, without a copy.
func TestFastPathIsInvisibleFromDisk(t *testing.T) {
	t.Parallel()
	filled := newStores()
	v := &variant{name: "disk", hasDisk: true}
	huge, one := asked("http://a.example/huge"), asked(cachedName)
	head := strings.Replace(huge, "GET", "HEAD", 1)
	d := dialog{packets: []packet{
		{octets: huge},
		{octets: huge},
		{octets: one + huge + one + huge},
		{octets: head + huge[:9]},
		{octets: huge[9:]},
		{octets: asked("http://a.example/huge", `If-None-Match: "huge"`) + asked("http://a.example/huge", "Range: bytes=5000000-5000009") + huge},
	}}
	if n := compare(t, filled, v, d); n < 7 {
		t.Errorf("the fast path has answered %d requests", n)
	}
	inMemory := play(t, filled, v, []dialog{d}, true)
	byTCP := playByTCP(t, filled, v, d, inMemory.heard[0])
	for _, fault := range inMemory.differences(byTCP, v, []dialog{d}) {
		t.Error(fault)
	}
	// A client that reads late, as on a busy machine, is answered by the server.
	if n, most := len(byTCP.heard[0].cuts), len(inMemory.heard[0].cuts); n == 0 || n > most {
		t.Errorf("by TCP the fast path has answered %d requests, and %d in memory", n, most)
	}
}

// isOnDisk reports whether the fast path has what is too large for memory, as a file.
func (w *world) isOnDisk() bool {
	stored, ok := w.web.Ready("http://a.example/huge", "", func(string) []string { return nil }, w.config.Now())
	if !ok {
		return false
	}
	_, inMemory := stored.Blocks()
	return !inMemory
}

// What only the disk has is answered by the fast path, too, and for those alone who may have it.
func TestFastPathIsInvisibleAfterARestart(t *testing.T) {
	t.Parallel()
	filled := newStores()
	page := dialog{packets: []packet{{octets: asked(cachedPage)}}}
	all := dialog{packets: []packet{{octets: asked(cachedPage) + asked("http://a.example/large") + asked("http://a.example/brief")}}}
	for _, c := range []struct {
		name   string
		change func(*proxy.Config)
		client netip.AddrPort
		wants  int // dialogs in which the fast path has answered
	}{
		{"for all", nil, netip.AddrPort{}, 2},
		{"a rate", func(c *proxy.Config) { c.Access.Rate = 1000 }, netip.AddrPort{}, 0},
		{"a stranger", nil, netip.MustParseAddrPort("192.0.2.7:50000"), 0},
	} {
		v := &variant{name: c.name, hasDisk: true, forgets: true, change: c.change, client: c.client}
		if n := compare(t, filled, v, page, page, all, page); n < c.wants || c.wants == 0 && n > 0 {
			t.Errorf("%s: the fast path has answered %d requests", c.name, n)
		}
	}
}

// said returns all that the client has received.
func (h *heard) said() string { return strings.Join(h.responses, "") }

// dates are the fields Date, of another clock.
var dates = regexp.MustCompile(`Date: [^\r\n]+`)

// playByTCP holds a dialog with a server with the fast path, of which is known what it should say.
func playByTCP(t *testing.T, filled *stores, v *variant, d dialog, expected *heard) *transcript {
	t.Helper()
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // as synctest has it
	beginning := "Date: " + now.Format(http.TimeFormat)
	w := newWorld(t, filled.inMemory(t), v, func() time.Time { return now })
	defer w.close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := w.serve(t, listener, v, true)
	w.fast.read = func() int { return 0 }
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testserver.Patience)); err != nil {
		t.Fatal(err)
	}
	h := &heard{ended: expected.ended, lasted: expected.lasted}
	for i, p := range d.packets {
		_, _ = io.WriteString(conn, p.octets) // it fails where the server has closed the connection
		octets := make([]byte, len(expected.responses[i]))
		n, _ := io.ReadFull(conn, octets)
		h.responses = append(h.responses, dates.ReplaceAllString(string(octets[:n]), beginning))
		if v.hasDisk { // its client has the end of a body before it is stored
			testserver.Wait(t, "the body is on disk", w.isOnDisk)
		}
	}
	if half, ok := conn.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
	rest, _ := io.ReadAll(conn)
	h.responses = append(h.responses, dates.ReplaceAllString(string(rest), beginning), "")
	_ = conn.Close()
	stop()
	h.cuts = w.fast.cuts
	h.events, h.log = w.take()
	return &transcript{heard: []*heard{h, new(heard)}, answers: w.answers.Stats(), web: w.web.Counts()}
}
