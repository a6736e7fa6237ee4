package testserver

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Messages written by hand according to RFC 2608, sections 8, 8.1, 8.2 and 4.3.
const (
	slpAsk = "\x02\x01\x00\x00\x42\x00\x00\x00\x00\x00\x12\x34\x00\x02en" + // length 66
		"\x00\x00" + // PRList
		"\x00\x14service:urn-resolver" +
		"\x00\x07DEFAULT" +
		"\x00\x0d(NID=EXAMPLE)" +
		"\x00\x00" // SPI
	slpFirst  = "\x00\x0e\x10\x00\x23service:urn-resolver:thttp://a.test\x00"
	slpSecond = "\x00\x00\x3c\x00\x21service:urn-resolver:rcds://b.tes\x00"
	slpBoth   = "\x02\x02\x00\x00\x64\x00\x00\x00\x00\x00\x12\x34\x00\x02en" + // length 100
		"\x00\x00\x00\x02" + // no error, two entries
		slpFirst + slpSecond
	slpNone     = "\x02\x02\x00\x00\x14\x00\x00\x00\x00\x00\x12\x34\x00\x02en\x00\x00\x00\x00"
	slpDiscover = "\x02\x01\x00\x00\x31\x00\x00\x00\x00\x00\x12\x34\x00\x02en" + // length 49
		"\x00\x00\x00\x17service:directory-agent\x00\x00\x00\x00\x00\x00"
	slpAdvert = "\x02\x08\x00\x00\x56\x00\x00\x00\x00\x00\x12\x34\x00\x02en" + // length 86
		"\x00\x00\x00\x00\x00\x01" + // no error, boot time
		"\x00\x23service:directory-agent://127.0.0.1" +
		"\x00\x14DEFAULT,lab,x\\2cy,EU" + // no "Lab": case is ignored
		"\x00\x00\x00\x00\x00" // attributes, SPIs, authentication blocks
)

func slpServices() []SLPService {
	return []SLPService{
		{
			URL: "service:urn-resolver:thttp://a.test", Lifetime: 3600, Type: "service:urn-resolver:thttp",
			Attributes: map[string][]string{
				"nid": {"isbn", "Example"}, "n": {"34", "x"}, "keyword": nil,
				"On": {"TRUE"},
			},
		},
		{
			URL: "service:urn-resolver:rcds://b.tes", Lifetime: 60, Type: "service:urn-resolver:rcds", Lang: "en-GB",
			Scopes: []string{"DEFAULT", "lab", "Lab", "x,y"}, Attributes: map[string][]string{"NID": {"example"}},
		},
		{URL: "service:urn-resolver.other:thttp://c", Type: "service:urn-resolver.other:thttp", Lang: "de"},
		{URL: "http://d", Type: "http", Lang: "de", Scopes: []string{"EU"}},
	}
}

// slpError is the response to slpAsk with an error.
func slpError(code byte) string {
	return "\x02\x02\x00\x00\x12\x00\x00\x00\x00\x00\x12\x34\x00\x02en\x00" + string(code)
}

// slpRequest returns a generated request.
func slpRequest(flags uint16, lang string, fields ...string) string {
	m := []byte{2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34}
	for _, field := range append([]string{lang}, fields...) {
		m = append(binary.BigEndian.AppendUint16(m, uint16(len(field))), field...)
	}
	binary.BigEndian.PutUint16(m[3:], uint16(len(m)))
	binary.BigEndian.PutUint16(m[5:], flags)
	return string(m)
}

func dialSLP(t *testing.T, network string, a *SLPAgent) net.Conn {
	t.Helper()
	dialer := net.Dialer{Timeout: Timeout}
	conn, err := dialer.DialContext(t.Context(), network, a.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(Timeout)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func sendSLP(t *testing.T, conn net.Conn, message string) {
	t.Helper()
	if _, err := io.WriteString(conn, message); err != nil {
		t.Fatal(err)
	}
}

// wantSLP reads as many bytes as want has, or one datagram.
func wantSLP(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, 1<<16)
	read := conn.Read
	if conn.LocalAddr().Network() == "tcp" {
		read = func(b []byte) (int, error) { return io.ReadFull(conn, b[:len(want)]) }
	}
	n, err := read(got)
	if err != nil || string(got[:n]) != want {
		t.Errorf("got  %q, error %v\nwant %q", got[:n], err, want)
	}
}

// wantNoSLP sends a message that must not get a response, followed by one that gets a response: the agent
// handles datagrams in order.
func wantNoSLP(t *testing.T, conn net.Conn, message string) {
	t.Helper()
	sendSLP(t, conn, message)
	sendSLP(t, conn, slpDiscover)
	wantSLP(t, conn, slpAdvert)
}

func TestSLPAnswers(t *testing.T) {
	a := StartSLP(t, slpServices()...)
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			conn := dialSLP(t, network, a)
			sendSLP(t, conn, slpAsk)
			wantSLP(t, conn, slpBoth)
			sendSLP(t, conn, slpDiscover)
			wantSLP(t, conn, slpAdvert)
			sendSLP(t, conn, strings.Replace(slpAsk, "EXAMPLE", "nothing", 1))
			wantSLP(t, conn, slpNone)
		})
	}
}

func TestSLPTakesRequestsOfAConnectionAtOnceAndInPieces(t *testing.T) {
	conn := dialSLP(t, "tcp", StartSLP(t, slpServices()...))
	sendSLP(t, conn, slpAsk+slpDiscover+slpAsk[:20])
	wantSLP(t, conn, slpBoth+slpAdvert)
	sendSLP(t, conn, slpAsk[20:])
	wantSLP(t, conn, slpBoth)
}

func TestSLPErrors(t *testing.T) {
	a := StartSLP(t, slpServices()...)
	const kind = "service:urn-resolver"
	for _, c := range []struct {
		name, request string
		code          byte
	}{
		{"LANGUAGE_NOT_SUPPORTED", slpRequest(0, "en", "", "http", "eu", "(x=1)", ""), 1},
		{"field too long", strings.Replace(slpAsk, "\x00\x0d(", "\xff\xff(", 1), 2},
		{"length too great", strings.Replace(slpAsk, "\x42", "\x43", 1), 2},
		{"trailing byte", strings.Replace(slpAsk, "\x42", "\x43", 1) + "\x00", 2},
		{"reserved flag", slpRequest(0x1000, "en", "", kind, "DEFAULT", "", ""), 2},
		{"missing extension", strings.Replace(slpAsk, "\x00\x12\x34", "\x42\x12\x34", 1), 2},
		{"no service type", slpRequest(0, "en", "", "", "DEFAULT", "", ""), 2},
		{"predicate", slpRequest(0, "en", "", kind, "DEFAULT", "(x", ""), 2},
		{"scope list", slpRequest(0, "en", "", kind, "DEFAULT,", "", ""), 2},
		{"SCOPE_NOT_SUPPORTED", slpRequest(0, "en", "", kind, "LABS", "", ""), 4},
		{"no scope", slpRequest(0, "en", "", kind, "", "", ""), 4},
		{"AUTHENTICATION_UNKNOWN", slpRequest(0, "en", "", kind, "DEFAULT", "", "spi"), 5},
		{"VER_NOT_SUPPORTED", "\x01" + slpAsk[1:], 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dialSLP(t, "udp", a)
			sendSLP(t, conn, c.request)
			wantSLP(t, conn, slpError(c.code))
			// Section 7: no error in response to multicast.
			wantNoSLP(t, conn, c.request[:5]+string(c.request[5]|0x20)+c.request[6:])
		})
	}
	conn := dialSLP(t, "udp", a)
	sendSLP(t, conn, slpRequest(0, "en", "", "service:directory-agent", "LABS", "", ""))
	wantSLP(t, conn, "\x02\x08"+slpError(4)[2:])
	sendSLP(t, conn, slpRequest(0, "e", "", kind, "DEFAULT", "", "")[:13]+"\x02e2"+slpAsk[16:])
	wantSLP(t, conn, strings.Replace(slpError(2), "en", "e2", 1))
}

func TestSLPKeepsSilent(t *testing.T) {
	conn := dialSLP(t, "udp", StartSLP(t, slpServices()...))
	for name, request := range map[string]string{
		"previous responder": slpRequest(0, "en", "192.0.2.1, 127.0.0.1", "service:urn-resolver", "DEFAULT",
			"", ""),
		"multicast without match": slpRequest(0x2000, "en", "", "service:urn-resolver", "DEFAULT", "(nid=x)", ""),
		"unmet discovery":         slpRequest(0, "en", "", "service:directory-agent", "", "(x=1)", ""),
		"multicast discovery":     slpRequest(0x2000, "en", "", "service:directory-agent", "LABS", "", ""),
		"another function":        "\x02\x06" + slpAsk[2:],
		"incomplete header":       slpAsk[:13],
		"nothing":                 "",
	} {
		t.Run(name, func(t *testing.T) { wantNoSLP(t, conn, request) })
	}
	sendSLP(t, conn, slpRequest(0x2000, "en", "192.0.2.1,x", "service:urn-resolver", "DEFAULT", "(nid=example)", ""))
	wantSLP(t, conn, slpBoth)
	// With an extension at offset 66: an ID that may be ignored, and no next.
	sendSLP(t, conn, "\x02\x01\x00\x00\x47\x00\x00\x00\x00\x42"+slpAsk[10:]+"\x00\x01\x00\x00\x00")
	wantSLP(t, conn, slpBoth)
}

func TestSLPFinds(t *testing.T) {
	const thttp, rcds, other, http = "a.test", "b.tes", "//c", "//d"
	a := StartSLP(t, slpServices()...)
	for _, c := range []struct {
		lang, kind, scopes, predicate string
		want                          []string
	}{
		{"en", "service:urn-resolver:thttp", "DEFAULT", "", []string{thttp}},
		{"en", "SERVICE:Urn-Resolver", "DEFAULT", "", []string{thttp, rcds}},
		{"en", "service:urn-resolver", "nowhere,LAB", "", []string{rcds}},
		{"en", "service:urn-resolver", `X\2cY`, "", []string{rcds}},
		{"en", "service:urn-resolver", "EU", "", nil}, // a scope of the agent, but not of these services
		{"en", "service:urn-resolver.other", "DEFAULT", "", []string{other}},
		{"en", "service:urn", "DEFAULT", "", nil},
		{"en", "service", "DEFAULT", "", nil},
		{"en", "http", "EU", "", []string{http}}, // the language is ignored
		{"DE-at", "http", "EU", "(!(x=1))", []string{http}},
		{"en-US", "service:urn-resolver", "DEFAULT", "(nid=example)", []string{thttp, rcds}},
	} {
		conn := dialSLP(t, "tcp", a)
		sendSLP(t, conn, slpRequest(0, c.lang, "", c.kind, c.scopes, c.predicate, ""))
		header := make([]byte, 14)
		if _, err := io.ReadFull(conn, header); err != nil {
			t.Fatal(err)
		}
		reply := make([]byte, int(header[4])-len(header))
		if _, err := io.ReadFull(conn, reply); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, url := range []string{thttp, rcds, other, http} {
			if bytes.Contains(reply, []byte(url+"\x00")) {
				got = append(got, url)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

func TestSLPTruncates(t *testing.T) {
	a := StartSLP(t, slpServices()...)
	conn := dialSLP(t, "udp", a)
	for _, c := range []struct {
		limit int
		want  string
	}{
		{100, slpBoth},
		{99, "\x02\x02\x00\x00\x3d\x80\x00\x00\x00\x00\x12\x34\x00\x02en\x00\x00\x00\x01" + slpFirst},
		{61, "\x02\x02\x00\x00\x3d\x80\x00\x00\x00\x00\x12\x34\x00\x02en\x00\x00\x00\x01" + slpFirst},
		{60, "\x02\x02\x00\x00\x14\x80\x00\x00\x00\x00\x12\x34\x00\x02en\x00\x00\x00\x00"},
	} {
		a.MaxDatagram(c.limit)
		sendSLP(t, conn, slpAsk)
		wantSLP(t, conn, c.want)
	}
	sendSLP(t, conn, slpDiscover)
	wantSLP(t, conn, slpAdvert[:4]+"\x3c\x80"+slpAdvert[6:60])
	stream := dialSLP(t, "tcp", a)
	sendSLP(t, stream, slpAsk)
	wantSLP(t, stream, slpBoth)
}

func TestSLPMisbehaves(t *testing.T) {
	a := StartSLP(t, slpServices()...)
	conn := dialSLP(t, "udp", a)

	a.Fail(11)
	sendSLP(t, conn, slpAsk)
	wantSLP(t, conn, slpError(11))
	a.Fail(0)

	a.Tamper(func(reply []byte) []byte {
		if len(a.Requests())%2 == 0 {
			return append(reply[:10:10], "junk"...)
		}
		return nil
	})
	sendSLP(t, conn, slpAsk) // the second request
	wantSLP(t, conn, slpBoth[:10]+"junk")
	sendSLP(t, conn, slpAsk)
	sendSLP(t, conn, slpAsk)
	wantSLP(t, conn, slpBoth[:10]+"junk")
	a.Tamper(nil)

	// Requests received while mute get no response: the first response is for the next request.
	a.Mute(true)
	stream, before := dialSLP(t, "tcp", a), len(a.Requests())
	sendSLP(t, stream, slpAsk)
	Wait(t, "the mute agent has the request", func() bool { return len(a.Requests()) > before })
	a.Mute(false)
	second := strings.NewReplacer("\x12\x34", "\x56\x78") // its XID
	sendSLP(t, stream, second.Replace(slpAsk))
	wantSLP(t, stream, second.Replace(slpBoth))
}

func TestSLPRequests(t *testing.T) {
	a := StartSLP(t)
	for _, network := range []string{"tcp", "udp"} {
		conn := dialSLP(t, network, a)
		sendSLP(t, conn, slpRequest(0, "pt-br", "192.0.2.1", "http", "DEFAULT,x", "(a=b)", "spi"))
		wantSLP(t, conn, "\x02\x02\x00\x00\x15\x00\x00\x00\x00\x00\x12\x34\x00\x05pt-br\x00\x05")
	}
	got := a.Requests()
	if len(got) != 2 || got[0].Network != "tcp" || got[1].Network != "udp" || !bytes.Equal(got[0].Raw, got[1].Raw) {
		t.Fatalf("requests %+v", got)
	}
	r := got[1]
	if r.XID != 0x1234 || r.Flags != 0 || r.Lang != "pt-br" || r.PRList != "192.0.2.1" || r.ServiceType != "http" ||
		r.Scopes != "DEFAULT,x" || r.Predicate != "(a=b)" || r.SPI != "spi" || len(r.Raw) != 14+5+5*2+9+4+9+5+3 {
		t.Errorf("request %+v", r)
	}
}

func TestSLPManyAtOnce(t *testing.T) {
	a := StartSLP(t, slpServices()...)
	var count atomic.Int32
	calls := 0 // not synchronized: calls of lie do not overlap
	a.Tamper(func(reply []byte) []byte {
		calls++
		count.Store(int32(calls))
		return reply
	})
	var clients sync.WaitGroup
	for range 8 {
		for _, network := range []string{"tcp", "udp"} {
			conn := dialSLP(t, network, a)
			clients.Go(func() {
				a.MaxDatagram(1000)
				if _, err := io.WriteString(conn, slpAsk); err != nil {
					t.Error(err)
				}
				wantSLP(t, conn, slpBoth)
			})
		}
	}
	clients.Wait()
	if requests := len(a.Requests()); requests != 16 || count.Load() != 16 {
		t.Errorf("%d requests and %d replies", requests, count.Load())
	}
}

func TestSLPPredicate(t *testing.T) {
	attributes := map[string][]string{
		"x": {"1", "2", "3"}, "Y": {"0", "1"}, "word": nil, "on": {"TRUE"}, "s": {"  Some \t String  "},
		"n": {"3432", "34foo"}, "p": {"a*b(c)"}, "u": {"Ünï"},
	}
	for text, want := range map[string]bool{
		"": true, "(x=3)": true, "(x=4)": false, "(X=3)": true, "(x=03)": true, "( x = 3 )": true,
		"(!(y=0))": true, "(!(x>=0))": false, "(!(z=1))": true, "(z=1)": false, // the first is of section 8.1
		"(word=*)": true, "(x=*)": true, "(z=*)": false, "(!(word=*))": false, "(!(z=*))": true, "(word=a)": false,
		"(on=true)": true, "(on=1)": false, "(on>=true)": false, "(on=t*)": false,
		"(s=SOME string)": true, "(s=so*)": true, "(s=*ring)": true, "(s=*me str*)": true, "(s=s*e*g)": true,
		"(s=some*string)": true, "(s=some s*string)": false, "(s=*x*)": false, "(s=some *string)": true,
		"(n=34*)": true, "(n=343*)": false, "(n<=3432)": true, "(n<=3431)": false, "(n>=0900)": true, "(s>=some)": true,
		"(s~=some string)": true, `(p=a\2ab\28c\29)`: true, `(p=a\2a*)`: true, "(p=a*b*)": true, "(u=üNÏ)": true,
		"(&(x=1)(y=1))": true, "(&(x=1)(y=2))": false, "(|(x=9)(y=1))": true, "(|(x=9)(y=9))": false,
		"(!(&(x=1)(z=1)))": true, "(!(|(z=1)(z=2)))": true, "(&(|(x=9)(x=1))(!(s=a)))": true, "(&(x=1))": true,
	} {
		matches, ok := parseSLPPredicate(text)
		if !ok || matches(attributes) != want {
			t.Errorf("%s: parses %v, want match %v", text, ok, want)
		}
	}
	for _, text := range []string{
		"x=1", "(", "()", "(x)", "(=1)", "(x=)", "(x=1", "(x=1))", "(x=1)(y=1)", "(&)", "(|)", "(!)", "(!(x=1)(y=1))",
		"(& (x=1))", "(x>1)", "(x>=1*)", "(x<=*)", "(x=a(b)", "(x=a!b)", "(x=a,b)", "(x==b)", `(x=\41)`, `(x=\2)`,
		`(x=\)`, `(x=\zz)`, `(x=\ff\00)`, "(x=a\x00)", "(x=\xff)", "(a_b=1)", "(a*=1)", "(&(x=1)y)",
	} {
		if _, ok := parseSLPPredicate(text); ok {
			t.Errorf("%q parses", text)
		}
	}
	if _, ok := parseSLPPredicate(strings.Repeat("(!", 1<<15)); ok {
		t.Error("an unclosed predicate parses")
	}
}

func FuzzSLPRequest(f *testing.F) {
	for _, request := range []string{
		slpAsk, slpDiscover, slpAsk[:13],
		slpRequest(0, "en", "", "http", "EU", "(!(&(a=b*)(c>=1)))", ""),
	} {
		f.Add([]byte(request))
	}
	a := StartSLP(f, slpServices()...)
	f.Fuzz(func(t *testing.T, request []byte) {
		r, code := parseSLPRequest("udp", request)
		if len(request) < slpHeaderSize {
			return
		}
		if reply := a.answer(r, code, 80); reply != nil &&
			(len(reply) > max(80, len(r.Lang)+18) || slpLength(reply) != len(reply)) {
			t.Errorf("reply %q", reply)
		}
	})
}
