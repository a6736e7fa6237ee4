//go:build e2e

package failures

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// insideHost is a host with an internal address, from the perspective of its clients.
const insideHost = "inside.example.org"

// insideWords is the greeting of a server for another protocol than HTTP.
const insideWords = "SSH-2.0-OpenSSH_9.2p1"

// failingServers returns the addresses of servers that fail in every way.
func failingServers(t *testing.T) map[string]string {
	t.Helper()
	servers := map[string]string{"refuses": refusingServer(t)}
	for name, serve := range map[string]func(net.Conn){
		"hangs":           func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"closes":          func(net.Conn) {},
		"resets":          func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
		"speaks nonsense": func(c net.Conn) { _, _ = io.WriteString(c, "nonsense "+insideWords+"\r\n\r\n\r\n") },
		"has no fields":   func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"+insideWords+"\r\n\r\n") },
		"breaks off": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX: ")
		},
		"fails": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 Failed\r\nContent-Length: 0\r\n\r\n")
		},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		servers[name] = listener.Addr().String()
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					serve(conn)
				}()
			}
		}()
	}
	return servers
}

// refusingServer returns the address of a socket that does not listen. No other process can use its port until
// the test ends.
func refusingServer(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", at.(*syscall.SockaddrInet4).Port)
}

// insideRequests returns requests to a server at a port by every path, by name; targets that cannot name the
// port use an internal one.
func insideRequests(port string) map[string]string {
	at := insideHost + ":" + port
	requests := make(map[string]string)
	ask := func(name, line, host, fields string) {
		requests[name] = line + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + fields + "\r\n"
	}
	for _, accept := range []string{"application/json", "text/html"} {
		field := "Accept: " + accept + "\r\n"
		ask("proxy, "+accept, "GET http://"+at+"/", at, field)
		ask("tunnel, "+accept, "CONNECT "+at, at, field)
		ask("site, "+accept, "GET /page", "www.example.org", field)
		ask("https, "+accept, "GET https://"+at+"/", at, field)
		ask("address, "+accept, "GET http://10.9.9.1/", "a", field)
		for _, scheme := range []string{"http", "https", "ftp", "gopher", "nntp", "wais", "ws"} {
			path := map[string]string{"ftp": "pub/", "gopher": "0a", "nntp": "comp.a/1", "wais": "base?word"}[scheme]
			u := scheme + "://" + at + "/" + path
			ask("fetch "+scheme+", "+accept, "GET /fetch?uri="+url.QueryEscape(u), "127.0.0.1",
				field+"Sec-Fetch-Site: none\r\n")
			ask("proxy "+scheme+", "+accept, "GET "+u, at, field)
		}
		for _, service := range []string{"I2L", "I2Ls", "I2C", "I2N", "I2R", "I2Rs"} {
			for _, nid := range []string{"name", "origin"} {
				ask("name "+nid+" "+service+", "+accept, "GET /urn:"+nid+":1?s="+service, "127.0.0.1", field)
			}
		}
		for _, nid := range []string{"name", "origin", "configured"} {
			ask("API "+nid+", "+accept, "GET /api/v1/resolve?uri=urn:"+nid+":1", "127.0.0.1", field)
			ask("explain "+nid+", "+accept, "GET /api/v1/explain?uri=urn:"+nid+":1", "127.0.0.1", field)
			ask("path "+nid+", "+accept, "GET /urn:"+nid+":1", "127.0.0.1", field)
		}
		body := `["urn:name:1","urn:origin:1","urn:configured:1"]`
		ask("batch, "+accept, "POST /api/v1/resolve", "127.0.0.1",
			fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", field, len(body), body))
	}
	ask("trace", "GET /urn:configured:1", "127.0.0.1", "Accept: application/vnd.urnd.trace+json\r\n")
	return requests
}

// exchangeBytes sends a request and returns all data received.
func exchangeBytes(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
	_, _ = io.WriteString(conn, request)
	got, _ := io.ReadAll(bufio.NewReader(conn))
	return string(got)
}

// ownLookup is what urnd says about the DNS lookup of a host. Errors of Go's resolver begin with "lookup ", too.
var ownLookup = regexp.MustCompile(`[Tt]he DNS lookup of the host (failed|timed out)`)

// TestNothingOfTheInside checks that no failure, on any path, reveals addresses, ports and system calls of
// urnd's network to clients. The log contains them.
func TestNothingOfTheInside(t *testing.T) {
	t.Parallel()
	servers := failingServers(t)
	for name, resolves := range map[string]func(records urndtest.DNSServer) urndtest.DNSServer{
		"DNS answers":     func(records urndtest.DNSServer) urndtest.DNSServer { return records },
		"DNS is silent":   func(urndtest.DNSServer) urndtest.DNSServer { return urndtest.UDPAndTCP(urndtest.Silent) },
		"DNS is not here": func(urndtest.DNSServer) urndtest.DNSServer { return urndtest.DNSServer{} },
		"DNS fails": func(urndtest.DNSServer) urndtest.DNSServer {
			return urndtest.UDPAndTCP(urndtest.AnswerRcode(dns.RcodeServerFailure))
		},
		"no such host": func(urndtest.DNSServer) urndtest.DNSServer {
			return urndtest.UDPAndTCP(urndtest.AnswerRcode(dns.RcodeNameError))
		},
	} {
		for failure, server := range servers {
			if name != "DNS answers" && failure != "refuses" {
				continue
			}
			t.Run(name+", "+failure, func(t *testing.T) {
				t.Parallel()
				_, port, _ := net.SplitHostPort(server)
				lines := []string{
					thttpRule, insideHost + ". 60 IN A 127.0.0.1",
					"_thttp._tcp.urn.example.org. 60 IN SRV 0 0 " + port + " " + insideHost + ".",
					fmt.Sprintf(`origin.urn.example.org. 60 IN NAPTR 100 10 "u" "http+I2L" "!^urn:origin:(.*)$!http://%s:%s/\\1!" .`, insideHost, port),
				}
				at := resolves(urndtest.UDPAndTCP(urndtest.Zone(t, lines...))).Serve(t)
				d := urndtest.Start(t, at, func(c *config.Config) {
					urndtest.OpenLoopback(c)
					c.DNS.Timeout, c.Limits.ConnectTimeout, c.Limits.OriginTimeout = 50*time.Millisecond,
						100*time.Millisecond, 100*time.Millisecond
					c.THTTP.Timeout, c.Gateways.Timeout = 100*time.Millisecond, 100*time.Millisecond
					c.Proxy.Sites = []config.Site{{
						Hosts:   []string{"www.example.org"},
						Servers: []string{"http://" + server},
					}}
					c.Namespaces = append(c.Namespaces,
						config.Namespace{
							NID: "configured", Order: []string{"thttp"},
							THTTP: []string{"http://" + server},
						})
				})
				_, dnsPort, _ := net.SplitHostPort(at)
				inside := []string{
					"127.0.0.1:", "127.0.0.1->", ":" + dnsPort, "10.9.9.1 ", "dial ", "read tcp",
					"read udp", "connect: ", "syscall", "lookup ",
				}
				for path, request := range insideRequests(port) {
					if failure == "hangs" && strings.Contains(path, "https") {
						continue // the TLS handshake has a longer timeout than a test should wait
					}
					got := exchangeBytes(t, strings.TrimPrefix(d.URL, "http://"), request)
					if !strings.HasPrefix(got, "HTTP/1.1 ") {
						t.Errorf("%s: %q", path, got)
					}
					secrets := inside
					if strings.HasPrefix(path, "site") || strings.HasPrefix(path, "path configured") ||
						strings.Contains(path, "API configured") {
						secrets = append(secrets, port)
					}
					if !strings.Contains(path, " ftp,") && !strings.Contains(path, " gopher,") &&
						!strings.Contains(path, " nntp,") {
						secrets = append(secrets, insideWords)
					}
					said := ownLookup.ReplaceAllString(got, "")
					for _, secret := range secrets {
						if strings.Contains(said, secret) {
							t.Errorf("%s: %q in\n%s", path, secret, got)
						}
					}
					for word := range strings.FieldsFuncSeq(got,
						func(r rune) bool { return r == ':' || r == ';' || r == '"' }) {
						isText := !strings.Contains(word, "<") // two equal steps of a page may be adjacent
						if word = strings.TrimSpace(word); len(word) > 8 && isText &&
							strings.Contains(got, word+": "+word) {
							t.Errorf("%s: %q twice in\n%s", path, word, got)
						}
					}
				}
				if failure == "refuses" && name == "DNS answers" {
					d.WaitForLog(t, "dial tcp "+server) // the log contains the error
				}
			})
		}
	}
}
