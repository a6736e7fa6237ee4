//go:build e2e

package names

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
	"github.com/urnd/urnd/uri"
)

// seedServers are the servers of the hosts in the examples: all on loopback, at ports that the test adds to the
// URLs.
type seedServers map[string]string // "host:port", by scheme

// seedExamples returns the example URLs of RFC 1738 and RFC 2396 for schemes other than http, from the test
// vectors of package uri: a URL and its scheme for each.
func seedExamples(t *testing.T) (examples []string) {
	t.Helper()
	schemes := []string{"ftp", "gopher", "mailto", "news", "nntp", "telnet", "wais", "file", "prospero"}
	for _, name := range []string{"rfc1738.tsv", "seed000.tsv"} {
		for line := range strings.Lines(urndtest.ReadFile(t, filepath.Join(urndtest.Root(), "uri/testdata", name))) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) > 1 && !strings.HasPrefix(line, "#") && slices.Contains(schemes, fields[1]) {
				examples = append(examples, fields[0])
			}
		}
	}
	return examples
}

// TestSeedURLs checks that the example URLs work in proxy requests and by /fetch.
func TestSeedURLs(t *testing.T) {
	t.Parallel()
	folder, menus := testserver.OpenFolder(t), testserver.OpenFolder(t)
	files := t.TempDir()
	urndtest.WriteOld(t, filepath.Join(files, "notes.txt"), []byte("A local file.\n"))
	urndtest.WriteOld(t, filepath.Join(menus, "0/Weather/California/Los Angeles"), []byte("Sunny.\n"))
	urndtest.WriteOld(t, filepath.Join(menus, "sel/day"), []byte("Sunny.\n"))
	examples := seedExamples(t)
	for _, example := range examples {
		plantFTP(t, folder, example)
	}
	news := testserver.StartINN(t, "comp.infosystems.www.misc", "comp.infosystems.www.servers.unix")
	for group, id := range map[string]string{
		"comp.infosystems.www.misc":         "a@host.dom",
		"comp.infosystems.www.servers.unix": "b@host.dom",
	} {
		news.Feed("From: A <a@host.dom>\nSubject: On " + group + "\nMessage-ID: <" + id + ">\nNewsgroups: " + group +
			"\n\nHello.\n")
	}
	servers := seedServers{
		"ftp":    testserver.StartVsftpd(t, folder, "local_enable=YES").Addr(),
		"gopher": testserver.StartGophernicus(t, menus).Addr(), "gopher+": testserver.StartPygopherd(t, menus).Addr(),
		"wais":       testserver.StartYazTest(t).Addr(),
		"nntp":       news.Addr(),
		"attributes": serveLoopback(t, answerAttributes), // pygopherd does not support lists of them
	}
	names := []string{
		"host.com", "host.dom", "info.cern.ch", "ds.internic.net", "boombox.micro.umn.edu", "quake.think.com",
		"prospero.isi.edu", "uu.psi.com", "ftp.is.co.za", "spinaltap.micro.umn.edu",
	}
	var lines []string
	for _, name := range names {
		lines = append(lines, name+". 60 IN A 127.0.0.1")
	}
	d := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.Zone(t, lines...)).Serve(t), func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.News.Servers = []string{servers["nntp"]}
		c.File.Roots = []string{files}
	})
	for _, example := range append(examples, moreExamples(files)...) {
		t.Run(strings.ReplaceAll(example, "/", "|"), func(t *testing.T) {
			t.Parallel()
			testSeedURL(t, d, servers, example)
		})
	}
}

// moreExamples returns a URL for each form that RFC 1738 defines without an example, with names of the servers.
func moreExamples(files string) []string {
	return []string{
		"gopher://host.dom", "gopher://host.dom/", "gopher://host.dom/1", "gopher://host.dom/1/sel",
		"nntp://host.dom/comp.infosystems.www.misc",
		"nntp://host.dom/comp.infosystems.www.misc/1", "news:a@host.dom", "wais://host.dom/Default",
		"wais://host.dom/Default?water",
		"telnet://user:password@host.dom:23/", "telnet://user@host.dom/", "prospero://host.dom:191//pros/name;a=b;c=d",
		"file://localhost" + files + "/notes.txt", "file://" + files + "/",
	}
}

// testSeedURL requests a URL as a client of the proxy, and by /fetch.
func testSeedURL(t *testing.T, d *urndtest.Daemon, servers seedServers, example string) {
	status, has := seedOutcome(example)
	target := servers.place(t, example)
	for _, requested := range []string{target, "/fetch?uri=" + url.QueryEscape(target)} {
		if requested != target && status == 401 {
			status = 403 // a browser would send the password to urnd
		}
		response := raw(t, d, "GET "+requested+" HTTP/1.1", "Host: "+strings.TrimPrefix(d.URL, "http://"))
		if !strings.HasPrefix(response, fmt.Sprintf("HTTP/1.1 %d ", status)) || !strings.Contains(response, has) {
			t.Errorf("GET %s: want %d with %q:\n%s", requested, status, has, response)
		}
	}
}

// seedOutcome returns the status of an example, and a part of the content.
func seedOutcome(example string) (status int, has string) {
	scheme, _, _ := strings.Cut(example, ":")
	switch {
	case strings.HasPrefix(example, "ftp://foo:@"), strings.HasPrefix(example, "ftp://myname@"),
		strings.HasPrefix(example, "ftp://@"):
		return 401, "" // nonexistent users
	case example == "ftp://ds.internic.net/rfc":
		return 302, "\r\nLocation: " // to the directory, whose links need the slash
	case scheme == "ftp" && (strings.HasSuffix(example, ";type=d") || strings.HasSuffix(example, "/")):
		return 200, "<html"
	case scheme == "ftp":
		name, _, _ := strings.Cut(example[strings.LastIndexByte(example, '/')+1:], ";")
		return 200, "A file of " + name
	case strings.Contains(example, "%0D%0A"):
		return 501, "cannot be submitted" // for forms of Gopher+, RFC 1738 section 3.4.9
	case strings.Contains(example, "!+ABSTRACT"):
		return 200, "Weather in words."
	case strings.Contains(example, "%09"):
		return 200, "sel"
	case strings.HasPrefix(example, "gopher://spinaltap"):
		return 200, "Sunny."
	case example == "news:*":
		return 200, "comp.infosystems.www.misc"
	case scheme == "news", scheme == "nntp":
		return 200, "On comp.infosystems.www." // subject of an article
	case strings.Contains(example, "?water"):
		return 200, " records found."
	case scheme == "wais":
		return 200, "<form"
	case strings.HasSuffix(example, "/1/sel"):
		return 200, ">day "
	case scheme == "gopher":
		return 200, "sel"
	case strings.HasPrefix(example, "file://vms."):
		return 403, ""
	case strings.HasSuffix(example, "notes.txt"):
		return 200, "A local file."
	case scheme == "telnet", scheme == "mailto", scheme == "prospero":
		return 200, example[len(scheme)+1:][:4]
	default:
		return 200, ""
	}
}

// place adds the port of its server to a URL.
func (s seedServers) place(t *testing.T, example string) string {
	t.Helper()
	u, err := uri.Parse(example)
	if err != nil {
		t.Fatal(err)
	}
	server := s[u.Scheme()]
	switch {
	case strings.Contains(example, "!+"):
		server = s["attributes"]
	case strings.Contains(example, "%09"):
		server = s["gopher+"]
	}
	authority, ok := u.Authority()
	if server == "" || !ok {
		return example
	}
	return strings.Replace(example, "//"+authority, "//"+authority+server[strings.LastIndexByte(server, ':'):], 1)
}

// plantFTP creates the file or directory of an ftp URL.
func plantFTP(t *testing.T, folder, example string) {
	t.Helper()
	u, err := uri.Parse(example)
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme() != "ftp" {
		return
	}
	path, kind, _ := strings.Cut(u.Path(), ";")
	if kind == "type=d" || strings.HasSuffix(path, "/") || path == "/rfc" {
		if err := os.MkdirAll(filepath.Join(folder, path), 0o755); err != nil {
			t.Fatal(err)
		}
		return
	}
	urndtest.WriteOld(t, filepath.Join(folder, path), []byte("A file of "+filepath.Base(path)+".\n"))
}

// serveLoopback handles connections and returns the address.
func serveLoopback(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				answer(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

// answerAttributes is a Gopher+ server whose only item has an abstract.
func answerAttributes(conn net.Conn) {
	if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
		fmt.Fprint(conn, "+-1\r\n+INFO: 0Day\tsel\thost.dom\t70\t+\r\n+ABSTRACT:\r\n Weather in words.\r\n.\r\n")
	}
}
