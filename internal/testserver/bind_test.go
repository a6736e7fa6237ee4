package testserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

const typeNAPTR = 35

// example has an NS outside the zone, so that BIND requires no address.
func example() Zone {
	return Zone{Name: "example.com", Text: `
$TTL 60
@       SOA   ns.elsewhere.test. admin.elsewhere.test. 1 3600 600 86400 60
@       NS    ns.elsewhere.test.
urn     NAPTR 100 10 "s" "thttp+N2L+N2C" "" _thttp._tcp.example.com.
rewrite NAPTR 100 20 "" "" "!^urn:foo:([^:]+)!\\1.example.com!i" .
`}
}

func TestBINDServesNAPTR(t *testing.T) {
	server := StartBIND(t, example())
	for name, ask := range transports() {
		t.Run(name, func(t *testing.T) {
			answer := ask(t, server.Addr(), "urn.example.com", typeNAPTR)
			if !isAuthoritative(answer) {
				t.Fatalf("no authoritative answer: % x", answer)
			}
			for _, want := range []string{"\x00\x64\x00\x0a\x01s\x0dthttp+N2L+N2C\x00", "_thttp"} {
				if !bytes.Contains(answer, []byte(want)) {
					t.Errorf("answer lacks %q: %q", want, answer)
				}
			}
		})
	}
	answer := askUDP(t, server.Addr(), "rewrite.example.com", typeNAPTR)
	if want := `!^urn:foo:([^:]+)!\1.example.com!i`; !bytes.Contains(answer, []byte(want)) {
		t.Errorf("answer lacks %q: %q", want, answer)
	}
}

func TestBINDServesOnlyItsZones(t *testing.T) {
	const refused = 5
	server := StartBIND(t, example(), Zone{Name: "example.net.", Text: example().Text})
	if answer := askUDP(t, server.Addr(), "example.net", typeSOA); !isAuthoritative(answer) {
		t.Errorf("second zone: no authoritative answer: % x", answer)
	}
	if answer := askUDP(t, server.Addr(), "example.org", typeSOA); answer[3]&0x0f != refused {
		t.Errorf("name outside the zones: not refused: % x", answer)
	}
}

func TestBINDCountsQueries(t *testing.T) {
	server := StartBIND(t, example())
	wantQueries(t, server)

	askUDP(t, server.Addr(), "urn.example.com", typeNAPTR)
	askTCP(t, server.Addr(), "Urn.EXAMPLE.com", typeNAPTR)
	askUDP(t, server.Addr(), "example.com", typeSOA) // as the probe does
	askUDP(t, server.Addr(), ".", typeSOA)
	askUDP(t, server.Addr(), "nosuch.example.com", 65280)
	want := []string{
		"urn.example.com NAPTR", "urn.example.com NAPTR", "example.com SOA", ". SOA", "nosuch.example.com TYPE65280",
	}
	wantQueries(t, server, want...)
	wantQueries(t, server, want...) // reading does not reset

	server.Reset()
	wantQueries(t, server)
	askUDP(t, server.Addr(), "urn.example.com", typeNAPTR)
	wantQueries(t, server, "urn.example.com NAPTR")

	server.Stop()
	wantQueries(t, server, "urn.example.com NAPTR")
	server.Reset()
	wantQueries(t, server)
}

func TestBINDCountsManyQueries(t *testing.T) {
	server := StartBIND(t, example())
	for round := range 20 {
		var want []string
		for i := range 10 {
			name := fmt.Sprintf("n%d-%d.example.com", round, i)
			askUDP(t, server.Addr(), name, typeNAPTR)
			want = append(want, name+" NAPTR")
		}
		wantQueries(t, server, want...)
		server.Reset()
	}
}

func TestBINDStops(t *testing.T) {
	server := StartBIND(t, example())
	server.Stop()
	server.Stop()
	if server.process.cmd.ProcessState == nil {
		t.Fatal("the process was not waited for")
	}
	// A free port is better evidence than a missing response.
	addr := net.UDPAddrFromAddrPort(server.addr)
	conn, err := net.ListenUDP("udp4", addr)
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBINDTellsCrash distinguishes a crashed server from a stopped one.
func TestBINDTellsCrash(t *testing.T) {
	server := StartBIND(t, example())
	if err := server.process.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-server.process.done
	if _, err := server.mark(); err == nil || !strings.Contains(err.Error(), "exited unexpectedly: signal: killed") {
		t.Errorf("mark: error %v", err)
	}
	if err := server.stop(); err == nil || !strings.Contains(err.Error(), "exited unexpectedly: signal: killed") {
		t.Errorf("stop: error %v", err)
	}
}

func TestBINDsRunBesideEachOther(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			server := StartBIND(t, example())
			askUDP(t, server.Addr(), "urn.example.com", typeNAPTR)
			wantQueries(t, server, "urn.example.com NAPTR")
		})
	}
}

func TestBINDWithoutZones(t *testing.T) {
	wantQueries(t, StartBIND(t))
}

func TestBINDRejectsBadZones(t *testing.T) {
	tests := map[string]struct {
		zones []Zone
		want  string
	}{
		"syntax":    {[]Zone{{"example.com", example().Text + "x NAPTR 100 10 \"u\"\n"}}, "unexpected end of input"},
		"empty":     {[]Zone{{"example.com", ""}}, "has no NS records"},
		"semantics": {[]Zone{{"example.com", "$TTL 1\n@ SOA ns a 1 1 1 1 1\n@ NS ns\n"}}, "no address records"},
		"twice":     {[]Zone{example(), example()}, "already exists"},
		"name":      {[]Zone{{"example..com", example().Text}}, "bad label"},
		"quote":     {[]Zone{{`x"; };`, example().Text}}, "bad label"},
		"no name":   {[]Zone{{"", example().Text}}, "no name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := startBIND(t, test.zones...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestBINDTellsTakenPort distinguishes a port in use from a slow server.
func TestBINDTellsTakenPort(t *testing.T) {
	named := Need(t, "named")
	udp, err := listenLoopback()
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	taken := udp.LocalAddr().(*net.UDPAddr).AddrPort()
	other := StartBIND(t, example())
	for name, addr := range map[string]netip.AddrPort{"socket": taken, "another BIND": other.addr} {
		t.Run(name, func(t *testing.T) {
			_, err := launch(t, named, addr, []Zone{example()})
			if !errors.Is(err, errPortTaken) {
				t.Fatalf("error %v, want %v", err, errPortTaken)
			}
		})
	}
}

func wantQueries(t *testing.T, server *BIND, want ...string) {
	t.Helper()
	if got := server.Queries(); !slices.Equal(got, want) {
		t.Fatalf("queries %q, want %q", got, want)
	}
}

type queryFunc func(t *testing.T, addr, name string, qtype uint16) []byte

func transports() map[string]queryFunc {
	return map[string]queryFunc{"UDP": askUDP, "TCP": askTCP}
}

const queryID = 0x7e57

func askUDP(t *testing.T, addr, name string, qtype uint16) []byte {
	t.Helper()
	conn, query := dial(t, "udp4", addr, name, qtype)
	defer conn.Close()
	if _, err := conn.Write(query); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4096)
	n, err := conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	return checkAnswer(t, answer[:n])
}

func askTCP(t *testing.T, addr, name string, qtype uint16) []byte {
	t.Helper()
	conn, query := dial(t, "tcp4", addr, name, qtype)
	defer conn.Close()
	framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)
	if _, err := conn.Write(framed); err != nil {
		t.Fatal(err)
	}
	var length uint16
	if err := binary.Read(conn, binary.BigEndian, &length); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(conn, answer); err != nil {
		t.Fatal(err)
	}
	return checkAnswer(t, answer)
}

func dial(t *testing.T, network, addr, name string, qtype uint16) (net.Conn, []byte) {
	t.Helper()
	query, err := packQuery(queryID, name, qtype)
	if err != nil {
		t.Fatal(err)
	}
	dialer := net.Dialer{Timeout: Timeout}
	conn, err := dialer.DialContext(t.Context(), network, addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(Timeout)); err != nil {
		t.Fatal(err)
	}
	return conn, query
}

func checkAnswer(t *testing.T, answer []byte) []byte {
	t.Helper()
	if !isResponse(answer, queryID) {
		t.Fatalf("no response to the query: % x", answer)
	}
	return answer
}
