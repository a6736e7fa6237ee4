package proxy_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/proxy/listen"
)

// talk is what a client says by HTTP/2 on one connection: it writes frames, with header blocks by one table.
type talk struct {
	octets  bytes.Buffer
	block   bytes.Buffer
	framer  *http2.Framer
	encoder *hpack.Encoder
	stream  uint32
	packets []packet
}

// newTalk begins one with settings and a window as browsers have them, and a request that is for net/http in any case.
func newTalk(settings ...http2.Setting) *talk {
	k := new(talk)
	k.framer, k.encoder = http2.NewFramer(&k.octets, nil), hpack.NewEncoder(&k.block)
	k.framer.AllowIllegalWrites = true
	k.octets.WriteString(http2.ClientPreface)
	_ = k.framer.WriteSettings(settings...)
	return k
}

// opened is newTalk with a large window, and a first request.
func opened(settings ...http2.Setting) *talk {
	k := newTalk(settings...)
	_ = k.framer.WriteWindowUpdate(0, 1<<20)
	return k.ask(asked(cachedName)).send()
}

// send ends a packet.
func (k *talk) send() *talk {
	if k.octets.Len() > 0 {
		k.packets = append(k.packets, packet{octets: k.octets.String()})
		k.octets.Reset()
	}
	return k
}

// fields returns the field lines of a request by HTTP/1.1 as those by HTTP/2.
func fieldsOf(request string) (fields []hpack.HeaderField) {
	head, _, _ := strings.Cut(request, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	method, rest, _ := strings.Cut(lines[0], " ")
	target := rest
	if i := strings.LastIndex(rest, " HTTP/"); i >= 0 {
		target = rest[:i]
	}
	scheme, authority := "https", "a"
	if to, behind, ok := strings.Cut(target, "://"); ok && !strings.ContainsAny(to, "/?") {
		scheme = to
		authority, target, _ = strings.Cut(behind, "/")
		target = "/" + target
	}
	fields = []hpack.HeaderField{
		{Name: ":method", Value: method},
		{Name: ":scheme", Value: scheme},
		{Name: ":authority", Value: authority},
		{Name: ":path", Value: target},
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		if line != "Host: a" {
			fields = append(fields, hpack.HeaderField{Name: strings.ToLower(name), Value: strings.TrimLeft(value, " ")})
		}
	}
	return fields
}

// encode returns a header block.
func (k *talk) encode(fields []hpack.HeaderField) []byte {
	k.block.Reset()
	for _, f := range fields {
		_ = k.encoder.WriteField(f)
	}
	return bytes.Clone(k.block.Bytes())
}

// next returns the next stream.
func (k *talk) next() uint32 {
	k.stream = max(1, k.stream+k.stream%2*2)
	return k.stream
}

// ask sends a request.
func (k *talk) ask(request string) *talk { return k.askFields(fieldsOf(request)) }

func (k *talk) askFields(fields []hpack.HeaderField) *talk {
	_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: k.next(), BlockFragment: k.encode(fields), EndStream: true, EndHeaders: true})
	return k
}

// answer is what a client gets on a stream, or on the connection.
type answer2 struct {
	stream uint32
	said   []string
	body   string
}

// heard2 is what a client hears.
type heard2 struct {
	streams  []string // what was said on each
	ended    string
	events   []string
	log      string
	answered int
}

// parse reads all frames of a server.
func (h *heard2) parse(octets []byte) {
	framer := http2.NewFramer(io.Discard, bytes.NewReader(octets))
	framer.ReadMetaHeaders = hpack.NewDecoder(tableSize, nil)
	all := map[uint32]*answer2{}
	of := func(stream uint32) *answer2 {
		if all[stream] == nil {
			all[stream] = &answer2{stream: stream}
		}
		return all[stream]
	}
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				of(0).said = append(of(0).said, "broken: "+err.Error())
			}
			break
		}
		a := of(f.Header().StreamID)
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			var lines []string
			for _, field := range f.Fields {
				lines = append(lines, field.Name+": "+field.Value)
			}
			slices.Sort(lines)
			a.said = append(a.said, strings.Join(lines, "\n"))
			if f.StreamEnded() {
				a.said = append(a.said, "end")
			}
		case *http2.DataFrame:
			a.body += string(f.Data())
			if f.StreamEnded() {
				a.said = append(a.said, "end")
			}
		case *http2.RSTStreamFrame:
			a.said = append(a.said, f.ErrCode.String())
		case *http2.GoAwayFrame:
			a.said = append(a.said, "GOAWAY "+f.ErrCode.String())
		case *http2.PingFrame:
			a.said = append(a.said, fmt.Sprintf("PING %v", f.Data))
		case *http2.SettingsFrame:
			if f.IsAck() && !slices.Contains(a.said, "ACK") {
				a.said = append(a.said, "ACK")
			}
		}
	}
	for _, a := range all {
		if a.stream == 0 {
			slices.Sort(a.said)
		}
		h.streams = append(h.streams, fmt.Sprintf("%05d %s\n%s", a.stream, strings.Join(a.said, "\n"), a.body))
	}
	slices.Sort(h.streams)
}

const tableSize = 4096

// byHTTP2 is a variant by TLS.
func byHTTP2(v *variant) *variant {
	secure := *v
	secure.serving = func(t testing.TB, c *listen.ServerConfig) {
		t.Helper()
		if v.serving != nil {
			v.serving(t, c)
		}
		c.TLS = certificate(t)
	}
	return &secure
}

// playHTTP2 holds a talk with a server, in some packets, behind which the client or the server ends.
func playHTTP2(t *testing.T, filled *stores, v *variant, packets []packet, end ending, isFast bool) *heard2 {
	t.Helper()
	filled.once.Do(func() { filled.fill(t) })
	v = byHTTP2(v)
	h := new(heard2)
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		w := newWorld(t, filled.clone(), v, time.Now)
		defer w.close()
		listener := newStreamListener(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443})
		stop := sync.OnceFunc(w.serve(t, listener, v, isFast))
		defer stop()
		remote := v.client
		if !remote.IsValid() {
			remote = netip.MustParseAddrPort("127.0.0.1:50000")
		}
		atClient, atServer := newStreamConns(net.TCPAddrFromAddrPort(remote), listener.addr)
		listener.conns <- atServer
		w.fast.read = func() int { return 0 }
		_, _ = io.WriteString(atClient, v.prefix)
		conn := tls.Client(atClient, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}, ServerName: "a"})
		received := new(lockedBuffer)
		over := make(chan struct{})
		if err := conn.Handshake(); err != nil {
			t.Fatal(err)
		}
		go func() {
			defer close(over)
			_, err := io.Copy(received, conn)
			h.ended = fmt.Sprint(err)
		}()
		for _, p := range packets {
			_, _ = io.WriteString(conn, p.octets)
			synctest.Wait()
			time.Sleep(p.then)
		}
		time.Sleep(settled)
		switch end {
		case stays:
			stop()
		case waits:
			time.Sleep(time.Minute)
		default:
			_ = conn.CloseWrite()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		_ = conn.Close()
		<-over
		stop()
		synctest.Wait()
		h.events, h.log = w.take()
		slices.Sort(h.events)
		h.answered = w.fast.answered
		h.parse([]byte(received.take()))
	})
	return h
}

// compareHTTP2 holds a talk with both servers, and reports every difference. It returns how many requests the fast path has answered.
func compareHTTP2(t *testing.T, filled *stores, v *variant, packets []packet) (answered int) {
	t.Helper()
	return compareHTTP2To(t, filled, v, packets, halfCloses)
}

// compareHTTP2To is compareHTTP2 to some ending.
func compareHTTP2To(t *testing.T, filled *stores, v *variant, packets []packet, end ending) (answered int) {
	t.Helper()
	quick := playHTTP2(t, filled, v, packets, end, true)
	plain := playHTTP2(t, filled, v, packets, end, false)
	differ := func(what string, a, b []string) {
		for i := range max(len(a), len(b)) {
			var x, y string
			if i < len(a) {
				x = masked(a[i])
			}
			if i < len(b) {
				y = masked(b[i])
			}
			if x != y {
				t.Errorf("%s: %s differ:\n without %.700q\n    with %.700q", v.name, what, x, y)
				return
			}
		}
	}
	if end == stays { // net/http closes a connection that is idle, and tells it of that, at the same time: one of both comes first
		for _, streams := range [][]string{plain.streams, quick.streams} {
			for i, text := range streams {
				streams[i] = strings.ReplaceAll(text, "\nGOAWAY NO_ERROR", "")
			}
		}
	}
	differ("streams", plain.streams, quick.streams)
	differ("events", plain.events, quick.events)
	differ("logs", []string{plain.log}, []string{quick.log})
	differ("ends", []string{plain.ended}, []string{quick.ended})
	return quick.answered
}

// octet is a frame head, for those that no framer writes.
func rawFrame(length int, kind, flags byte, stream uint32, payload string) string {
	head := binary.BigEndian.AppendUint32([]byte{byte(length >> 16), byte(length >> 8), byte(length), kind, flags}, stream)
	return string(head) + payload
}
