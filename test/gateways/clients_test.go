//go:build e2e

package gateways

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// gatewaySite is a folder served by an FTP and a gopher server, with a host name of urndtest.LoopbackZone.
type gatewaySite struct {
	service     string // URL of urnd
	folder      string
	ftp, gopher string // "ftp://host:port/"
}

// TestGatewayClients runs real clients with urnd as their proxy for ftp and gopher.
func TestGatewayClients(t *testing.T) {
	t.Parallel()
	s := &gatewaySite{folder: testserver.OpenFolder(t)}
	at := func(scheme, address string) string {
		return scheme + "://www.clients.example.org:" + address[strings.LastIndexByte(address, ':')+1:] + "/"
	}
	s.ftp = at("ftp", testserver.StartVsftpd(t, s.folder).Addr())
	s.gopher = at("gopher", testserver.StartGophernicus(t, s.folder).Addr())
	names := testserver.StartBIND(t, testserver.Zone{Name: "clients.example.org", Text: urndtest.LoopbackZone}).Addr()
	s.service = urndtest.Start(t, names, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
	}).URL
	urndtest.WriteOld(t, filepath.Join(s.folder, "pub/notes.txt"), []byte("Notes of old.\n"))
	urndtest.WriteOld(t, filepath.Join(s.folder, "pub/a b%c.bin"), urndtest.RandomBytes(300_000))
	for _, client := range []struct {
		name string
		test func(*testing.T, *gatewaySite)
	}{
		{"curl", testGatewayCurl},
		{"lynx", testGatewayLynx},
		{"w3m", testGatewayW3m},
		{"apt", testGatewayAPT},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			client.test(t, s)
		})
	}
}

// environment returns the environment of a client whose proxy is urnd.
func (s *gatewaySite) environment(t *testing.T) []string {
	t.Helper()
	return []string{
		"ftp_proxy=" + s.service, "gopher_proxy=" + s.service, "http_proxy=" + s.service, "no_proxy=", "NO_PROXY=",
		"HOME=" + t.TempDir(), "LC_ALL=C.UTF-8", "TERM=dumb", "APT_CONFIG=/dev/null",
	}
}

// testGatewayCurl: curl requests ftp URLs from a proxy like http URLs; for gopher it uses a tunnel.
func testGatewayCurl(t *testing.T, s *gatewaySite) {
	content := urndtest.RandomBytes(300_000)
	for _, tt := range []struct {
		name      string
		arguments []string
		header    []string
		body      string
	}{
		{
			"a file",
			[]string{s.ftp + "pub/a%20b%25c.bin"},
			[]string{"HTTP/1.1 200 ", "\r\nContent-Length: 300000\r\n", "\r\nLast-Modified: "},
			string(content),
		},
		{
			"again",
			[]string{s.ftp + "pub/a%20b%25c.bin"},
			[]string{"HTTP/1.1 200 ", "\r\nCache-Status: urnd; hit;"},
			string(content),
		},
		{
			"a part",
			[]string{"-r", "100-199", s.ftp + "pub/a%20b%25c.bin"},
			[]string{"HTTP/1.1 206 "},
			string(content[100:200]),
		},
		{
			"a text",
			[]string{s.ftp + "pub/notes.txt"},
			[]string{"HTTP/1.1 200 ", "\r\nContent-Type: text/plain"},
			"Notes of old.\n",
		},
		{
			"its header",
			[]string{"-I", s.ftp + "pub/notes.txt"},
			[]string{"HTTP/1.1 200 ", "\r\nContent-Length: 14\r\n"},
			"-",
		},
		{"not changed", []string{"-z", "1 Jan 2038", s.ftp + "pub/notes.txt"}, []string{"HTTP/1.1 304 "}, ""},
		{"a directory", []string{s.ftp + "pub/"}, []string{"HTTP/1.1 200 ", "\r\nContent-Type: text/html"}, "-"},
		{"what is not there", []string{s.ftp + "pub/none"}, []string{"HTTP/1.1 404 "}, "-"},
		{"an upload", []string{"-T", "/dev/null", s.ftp + "pub/new"}, []string{"HTTP/1.1 501 "}, "-"},
	} {
		header, body := urndtest.Curl(t, s.service, tt.arguments...)
		for _, part := range tt.header {
			if !strings.Contains(header, part) {
				t.Errorf("%s: no %q in\n%s", tt.name, part, header)
			}
		}
		if tt.body != "-" && string(body) != tt.body {
			t.Errorf("%s: %d bytes, want %d others\n%s", tt.name, len(body), len(tt.body), header)
		}
	}
	// With the usual environment variable.
	if got := urndtest.RunProgram(t, "", s.environment(t), "curl", "-q", "-sS",
		s.ftp+"pub/notes.txt"); got != "Notes of old.\n" {
		t.Errorf("by ftp_proxy: %q", got)
	}
}

func testGatewayLynx(t *testing.T, s *gatewaySite) {
	s.testBrowser(t, "lynx", "-dump", "-nolist")
	// Lynx uses Content-Location as the base of links.
	for _, start := range []string{s.ftp + "pub/", s.gopher + "1/pub"} {
		got := urndtest.RunProgram(t, "", s.environment(t), "lynx", "-dump", "-listonly", "-nonumbers",
			s.service+"/fetch?uri="+url.QueryEscape(start))
		links := strings.Fields(got)
		if len(links) == 0 {
			t.Errorf("%s: no links", start)
		}
		for _, link := range links {
			own := slices.Contains([]string{"/", "/fetch", "/namespaces", "/opensearch.xml"},
				strings.TrimPrefix(link, s.service)) ||
				strings.HasSuffix(link, "#main")
			if !own && !strings.HasPrefix(link, s.service+"/fetch?uri=") {
				t.Errorf("%s has a link to %s", start, link)
			}
		}
	}
	// Lynx sends the words of a search to a proxy after a question mark, like old browsers.
	search := startSearch(t)
	if got := urndtest.RunProgram(t, "", s.environment(t), "lynx", "-dump", "-nolist",
		search+"7/q?two+words"); !strings.Contains(got, "found: /q, two words") {
		t.Errorf("a search: %s", got)
	}
}

// startSearch starts a gopher server that responds to every search with an item that repeats it, and returns
// its URL.
func startSearch(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			fmt.Fprintf(conn, "0found: %s\t/found\tlocalhost\t70\r\n.\r\n",
				strings.ReplaceAll(strings.TrimSpace(line), "\t", ", "))
			_ = conn.Close()
		}
	})
	return "gopher://" + listener.Addr().String() + "/"
}

func testGatewayW3m(t *testing.T, s *gatewaySite) {
	// With the Referer of a page of urnd: browsers other than Lynx are otherwise asked for user activation
	// first.
	s.testBrowser(t, "w3m", "-dump", "-o", "use_proxy=1", "-header", "Referer: "+s.service+"/")
}

// testBrowser shows files, a directory and a menu with a text browser.
func (s *gatewaySite) testBrowser(t *testing.T, program string, arguments ...string) {
	t.Helper()
	for _, tt := range []struct{ uri, has string }{
		{s.ftp + "pub/notes.txt", "Notes of old."},
		{s.ftp + "pub/", "a b%c.bin"},
		{s.ftp, "pub"},
		{s.gopher + "0/pub/notes.txt", "Notes of old."},
		{s.gopher + "1/pub", "notes.txt"},
		{s.gopher, "pub"},
		{s.service + "/fetch?uri=" + url.QueryEscape(s.gopher+"1/pub"), "notes.txt"},
	} {
		if program == "w3m" && strings.HasPrefix(tt.uri, s.gopher) && tt.uri != s.gopher {
			continue // w3m 0.5.3 sends a proxy a selector without its item type
		}
		got := urndtest.RunProgram(t, "", s.environment(t), program, append(arguments, tt.uri)...)
		if !strings.Contains(got, tt.has) {
			t.Errorf("%s %s: no %q in\n%s", program, tt.uri, tt.has, got)
		}
	}
}

// testGatewayAPT runs apt with a line such as "deb ftp://...".
func testGatewayAPT(t *testing.T, s *gatewaySite) {
	deb := urndtest.WriteAptRepository(t, filepath.Join(s.folder, "debian"))
	root, options := urndtest.NewAptMachine(t, s.ftp+"debian", "ftp", s.service)
	options = append(options, "-o", "Dir::Bin::Methods::ftp=ftp") // disabled by default since apt 1.5
	out := urndtest.RunProgram(t, root, s.environment(t), "apt-get", append(options, "--error-on=any", "update")...)
	if strings.Contains(out, "Err:") || !strings.Contains(out, s.ftp+"debian") {
		t.Errorf("%s", out)
	}
	urndtest.RunProgram(t, root, s.environment(t), "apt-get", append(options, "download", "urnd-tiny")...)
	urndtest.WantFile(t, filepath.Join(root, "urnd-tiny_1.0_all.deb"), deb)
}
