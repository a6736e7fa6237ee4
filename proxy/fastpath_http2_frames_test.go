package proxy_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// act is something that a client says, in frames that net/http reads as it does.
type act struct {
	name string
	say  func(k *talk)
}

// acts are what may be said between requests that are answered, well or not.
func acts() []act {
	headers := func(change func(k *talk, p *http2.HeadersFrameParam)) func(k *talk) {
		return func(k *talk) {
			p := http2.HeadersFrameParam{
				StreamID: k.next(), BlockFragment: k.encode(fieldsOf(asked(cachedPage, "X-Y: 1"))), EndStream: true, EndHeaders: true,
			}
			change(k, &p)
			_ = k.framer.WriteHeaders(p)
		}
	}
	with := func(change func([]hpack.HeaderField) []hpack.HeaderField) func(k *talk) {
		return func(k *talk) { k.askFields(change(fieldsOf(asked(cachedName)))) }
	}
	add := func(name, value string) func(k *talk) {
		return with(func(f []hpack.HeaderField) []hpack.HeaderField {
			return append(f, hpack.HeaderField{Name: name, Value: value})
		})
	}
	parts := func(last bool, sizes ...int) func(k *talk) {
		return func(k *talk) {
			block := k.encode(fieldsOf(asked(cachedName, "User-Agent: some client", "X-Part: "+strings.Repeat("p", 100))))
			stream := k.next()
			first := min(sizes[0], len(block)) // of later ones the table has most
			_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block[:first], EndStream: true})
			block = block[first:]
			for _, n := range sizes[1:] {
				n = min(n, len(block))
				_ = k.framer.WriteContinuation(stream, false, block[:n])
				block = block[n:]
			}
			_ = k.framer.WriteContinuation(stream, last, block)
		}
	}
	raw := func(kind, flags byte, stream int, payload string) func(k *talk) {
		return func(k *talk) {
			id := uint32(max(stream, 0))
			if stream < 0 { // one that was used, from the last one on
				id = uint32(max(int(k.stream)+2*(stream+1), 1))
			}
			k.octets.WriteString(rawFrame(len(payload), kind, flags, id, payload))
		}
	}
	block := func(octets string) func(k *talk) {
		return func(k *talk) {
			_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: k.next(), BlockFragment: []byte(octets), EndStream: true, EndHeaders: true})
		}
	}
	large := func(size, times int) func(k *talk) {
		return with(func(f []hpack.HeaderField) []hpack.HeaderField {
			for range times {
				f = append(f, hpack.HeaderField{Name: "x-large", Value: strings.Repeat("y", size)})
			}
			return f
		})
	}
	posted := func(fields ...string) func(k *talk) {
		return func(k *talk) {
			f := fieldsOf("POST http://a.example/echo HTTP/1.1\r\nHost: a\r\n\r\n")
			stream := k.next()
			_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: k.encode(f), EndHeaders: true})
			_ = k.framer.WriteData(stream, len(fields) == 0, []byte("hello"))
			if len(fields) > 0 {
				trailer := []hpack.HeaderField{{Name: fields[0], Value: fields[1]}}
				_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: k.encode(trailer), EndStream: true, EndHeaders: true})
			}
		}
	}
	return []act{
		{"a cached name", func(k *talk) { k.ask(asked(cachedName)) }},
		{"a cached page", func(k *talk) { k.ask(asked(cachedPage, "User-Agent: x")) }},
		{"a large page", func(k *talk) { k.ask(asked("http://a.example/large")) }},
		{"a page that is not cached", func(k *talk) { k.ask(asked("http://a.example/private")) }},
		{"padding", headers(func(_ *talk, p *http2.HeadersFrameParam) { p.PadLength = 7 })},
		{"a priority", headers(func(_ *talk, p *http2.HeadersFrameParam) {
			p.Priority = http2.PriorityParam{StreamDep: 1, Weight: 3, Exclusive: true}
		})},
		{"both", headers(func(_ *talk, p *http2.HeadersFrameParam) { p.PadLength, p.Priority.Weight = 255, 1 })},
		{"a dependency on itself", headers(func(_ *talk, p *http2.HeadersFrameParam) { p.Priority.StreamDep = p.StreamID })},
		{"a stream that was used", headers(func(k *talk, p *http2.HeadersFrameParam) { p.StreamID -= 2; k.stream -= 2 })},
		{"stream 1 again", headers(func(k *talk, p *http2.HeadersFrameParam) { p.StreamID = 1; k.stream -= 2 })},
		{"a stream of the server", headers(func(_ *talk, p *http2.HeadersFrameParam) { p.StreamID++ })},
		{"streams left out", headers(func(k *talk, p *http2.HeadersFrameParam) { p.StreamID += 20; k.stream += 20 })},
		{"no stream", headers(func(_ *talk, p *http2.HeadersFrameParam) { p.StreamID = 0 })},
		{"CONTINUATION", parts(true, 1)},
		{"CONTINUATION in parts", parts(true, 3, 0, 1, 30, 2)},
		{"CONTINUATION without end", parts(false, 9)},
		{"CONTINUATION of nothing", raw(9, 4, -1, "\x82")},
		{"CONTINUATION of another stream", func(k *talk) {
			_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: k.next(), BlockFragment: k.encode(fieldsOf(asked(cachedName)))})
			_ = k.framer.WriteContinuation(k.stream+2, true, nil)
		}},
		{"another frame in a block", func(k *talk) {
			_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: k.next(), BlockFragment: k.encode(fieldsOf(asked(cachedName)))})
			_ = k.framer.WritePing(false, [8]byte{1})
		}},
		{"too much padding", raw(1, 0xd, 1001, "\xff\x82")},
		{"padding without room", raw(1, 0xd, 1001, "")},
		{"a priority without room", raw(1, 0x25, 1001, "\x00\x00")},
		{"no fields", block("")},
		{"an index beyond the table", block("\xff\x80\x01")},
		{"the index 0", block("\x80")},
		{"a block cut off", block("\x82\x04\x7f")},
		{"a smaller table", block("\x20\x82\x87\x84\x41\x01a")},
		{"a greater table", block("\x3f\xff\xff\x7f\x82")},
		{"a table behind a field", block("\x82\x20\x87\x84\x41\x01a")},
		{"Huffman codes that are none", block("\x82\x04\x84\xff\xff\xff\xff")},
		{"no :path", with(func(f []hpack.HeaderField) []hpack.HeaderField { return f[:3] })},
		{"no :authority", with(func(f []hpack.HeaderField) []hpack.HeaderField { return append(f[:2:2], f[3:]...) })},
		{":path twice", add(":path", "/")},
		{"a pseudo-field behind others", func(k *talk) {
			k.askFields(append(fieldsOf(asked(cachedName, "A: b")), hpack.HeaderField{Name: ":status", Value: "1"}))
		}},
		{"an unknown pseudo-field", add(":x", "y")},
		{"a name in upper case", add("X-Upper", "y")},
		{"a line end in a value", add("x", "a\r\nb")},
		{"a line end in a :path", with(func(f []hpack.HeaderField) []hpack.HeaderField { f[3].Value += "\r\nX: y"; return f })},
		{"a space in a :path", with(func(f []hpack.HeaderField) []hpack.HeaderField { f[3].Value += " HTTP/1.1"; return f })},
		{"a line end in an :authority", with(func(f []hpack.HeaderField) []hpack.HeaderField { f[2].Value += "\r\nX: y"; return f })},
		{"another :scheme", with(func(f []hpack.HeaderField) []hpack.HeaderField { f[1].Value = "ftp"; return f })},
		{"another :authority", with(func(f []hpack.HeaderField) []hpack.HeaderField { f[2].Value = "b.example:80"; return f })},
		{"Connection", add("connection", "close")},
		{"Host", add("host", "a")},
		{"another Host", add("host", "b")},
		{"TE", add("te", "trailers")},
		{"Transfer-Encoding", add("transfer-encoding", "chunked")},
		{"Content-Length", add("content-length", "5")},
		{"cookies", func(k *talk) { k.ask(asked(cachedName, "Cookie: a=b", "Cookie: c=d")) }},
		{"a secret", with(func(f []hpack.HeaderField) []hpack.HeaderField {
			return append(f, hpack.HeaderField{Name: "cookie", Value: "secret", Sensitive: true})
		})},
		{"spaces around a value", add("user-agent", " x ")},
		{"a large field", large(2000, 1)},
		{"fields too large", large(3000, 30)},
		{"a field too large", large(70<<10, 1)},
		{"fields much too large", large(14<<10, 20)},
		{"a bomb", large(4000, 4000)},
		{"a body", posted()},
		{"trailers", posted("x-t", "1")},
		{"a trailer that is none", posted(":path", "/")},
		{"a window of a stream", raw(8, 0, -1, "\x00\x00\x01\x00")},
		{"a window of an earlier stream", raw(8, 0, -2, "\x00\x00\x01\x00")},
		{"a window of a stream that is idle", raw(8, 0, 2001, "\x00\x00\x01\x00")},
		{"a window of nothing", raw(8, 0, -1, "\x00\x00\x00\x00")},
		{"a window of the connection", raw(8, 0, 0, "\x00\x00\x01\x00")},
		{"a window of the connection of nothing", raw(8, 0, 0, "\x00\x00\x00\x00")},
		{"a window too large", raw(8, 0, 0, "\x7f\xff\xff\xff")},
		{"a window of five octets", raw(8, 0, 0, "\x00\x00\x00\x00\x01")},
		{"a reset", raw(3, 0, -1, "\x00\x00\x00\x08")},
		{"a reset of an earlier stream", raw(3, 0, -2, "\x00\x00\x00\x08")},
		{"a reset of a stream that is idle", raw(3, 0, 2001, "\x00\x00\x00\x08")},
		{"a reset of the connection", raw(3, 0, 0, "\x00\x00\x00\x08")},
		{"a reset of three octets", raw(3, 0, -1, "\x00\x00\x00")},
		{"the priority of a stream", raw(2, 0, -1, "\x00\x00\x00\x00\x01")},
		{"PING", raw(6, 0, 0, "12345678")},
		{"PING of seven octets", raw(6, 0, 0, "1234567")},
		{"settings", func(k *talk) {
			_ = k.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
		}},
		{"small windows", func(k *talk) { _ = k.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 200}) }},
		{"windows too large", func(k *talk) {
			_ = k.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
		}},
		{"no table", func(k *talk) { _ = k.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize}) }},
		{"a larger table", func(k *talk) {
			_ = k.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1 << 16})
		}},
		{"settings of five octets", raw(4, 0, 0, "12345")},
		{"settings acknowledged", raw(4, 1, 0, "")},
		{"settings of a stream", raw(4, 0, 1, "")},
		{"GOAWAY", raw(7, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"PUSH_PROMISE", raw(5, 4, -1, "\x00\x00\x00\x02")},
		{"an unknown frame", raw(0xbe, 0xff, -1, "x")},
		{"DATA of the connection", raw(0, 1, 0, "x")},
		{"DATA of a stream that is idle", raw(0, 1, 2001, "x")},
		{"a frame too large", func(k *talk) { k.octets.WriteString(rawFrame(1<<24-1, 1, 5, k.next(), strings.Repeat("x", 100))) }},
		{"a priority update", raw(0x10, 0, 0, "\x00\x00\x00\x03u=1")},
	}
}

// Frames of all kinds, well or malformed, are answered as net/http alone answers them, and so is what follows.
func TestFastPathIsInvisibleToFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	for _, a := range acts() {
		t.Run(a.name, func(t *testing.T) {
			k := opened().ask(asked(cachedName)).send()
			a.say(k)
			k.send().ask(asked(cachedName)).send().ask(asked(cachedPage)).send()
			if n := compareHTTP2(t, filled, variants()[0], k.packets); n == 0 {
				t.Error("the fast path has answered nothing")
			}
			k = newTalk().send() // before the first request, too
			a.say(k)
			compareHTTP2(t, filled, variants()[0], k.send().ask(asked(cachedName)).send().packets)
		})
	}
}

// FuzzFastPathByHTTP2 says any of these things in any order, in any division into packets.
func FuzzFastPathByHTTP2(f *testing.F) {
	filled := newStores()
	all := acts()
	for i := range all {
		f.Add([]byte{0, byte(i), 1, byte(len(all) - 1 - i)}, []byte{byte(i), 3, 40})
	}
	f.Fuzz(func(t *testing.T, said, division []byte) { compareSaid(t, filled, all, said, division) })
}

// Many of these things are said one after another.
func TestFastPathIsInvisibleToTalks(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	all := acts()
	random := rand.New(rand.NewPCG(uint64(*talks), 1))
	for i := range *talks {
		said, division := make([]byte, random.IntN(16)), make([]byte, random.IntN(16))
		for i := range said {
			if said[i] = byte(random.IntN(len(all))); random.IntN(2) == 0 {
				said[i] = byte(random.IntN(3))
			}
		}
		for i := range division {
			division[i] = byte(random.Uint32())
		}
		compareSaid(t, filled, all, said, division)
		if t.Failed() {
			t.Fatalf("talk %d: %v, divided at %v", i, said, division)
		}
	}
}

var talks = flag.Int("talks", 200, "how many random talks by HTTP/2 are compared")

// compareSaid says some of all acts, each of which is cut where division says.
func compareSaid(t *testing.T, filled *stores, all []act, said, division []byte) {
	t.Helper()
	k := opened()
	const most = 24
	for _, c := range said[:min(len(said), most)] {
		all[int(c)%len(all)].say(k)
		k.send()
	}
	var packets []packet
	for i, p := range k.packets {
		if i == 0 || len(division) == 0 || len(p.octets) > 16<<10 {
			packets = append(packets, p)
			continue
		}
		at := int(division[i%len(division)])
		packets = append(packets, cut(p.octets, min(at, len(p.octets)))...)
	}
	compareHTTP2(t, filled, variants()[0], packets)
}
