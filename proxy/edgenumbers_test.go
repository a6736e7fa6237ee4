package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/ftp"
	"github.com/urnd/urnd/resolver/scheme/gopher"
	"github.com/urnd/urnd/resolver/scheme/nntp"
)

// edgeNumbers are the limits of integer types, and numbers beyond.
func edgeNumbers() []string {
	return []string{
		"0", "1", "65535", "2147483647", "2147483648", "4294967295", "4294967296", "4611686018427387903",
		"4611686018427387904", "9223372036854775806", "9223372036854775807", "9223372036854775808",
		"18446744073709551615", "18446744073709551616", "99999999999999999999999999", "-1", "-9223372036854775808",
		"+1", "0x7fffffffffffffff",
	}
}

// lineServer replies to commands, selected by prefix, with lines. A reply that begins with "data " is sent on
// a data connection, that of EPSV (RFC 2428); "last " closes the connection.
func lineServer(t *testing.T, greeting string, replies ...string) string {
	t.Helper()
	return listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		data, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return
		}
		defer data.Close()
		reported := greeting
		for {
			if _, err := io.WriteString(c, reported); err != nil {
				return
			}
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			reported = replyTo(c, data, line, replies)
			if last, ok := strings.CutPrefix(reported, "last "); ok {
				_, _ = io.WriteString(c, last)
				return
			}
		}
	}).addr
}

func replyTo(c net.Conn, data net.Listener, line string, replies []string) string {
	if strings.HasPrefix(line, "EPSV") {
		return fmt.Sprintf("229 here (|||%d|)\r\n", data.Addr().(*net.TCPAddr).Port)
	}
	for i := 0; i < len(replies); i += 2 {
		if !strings.HasPrefix(line, replies[i]) {
			continue
		}
		content, isData := strings.CutPrefix(replies[i+1], "data ")
		if !isData {
			return replies[i+1]
		}
		_, _ = io.WriteString(c, "150 here it comes\r\n")
		if to, err := data.Accept(); err == nil {
			_, _ = io.WriteString(to, content)
			_ = to.Close()
		}
		return "226 sent\r\n"
	}
	return "500 unknown\r\n"
}

// withGateways adds the protocols whose servers send numbers.
func withGateways(t *testing.T, news string) func(*proxy.Config) {
	t.Helper()
	guard := netguard.New(testserver.Timeout, loopback)
	dial := func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		return guard.WithCheck(check).DialContext(ctx, network, address)
	}
	limits := scheme.Limits{Timeout: testserver.Timeout, Entries: 100, Bytes: 1 << 20, Line: 8 << 10}
	files := ftp.New(ftp.Config{
		Dial: dial, Limits: limits, Now: time.Now, Anonymous: "a@", MaxFetches: 10, MaxIdle: 1,
		IdleTimeout: time.Minute,
	})
	t.Cleanup(files.Close)
	return func(c *proxy.Config) {
		withCache(t, c)
		c.ListingTTL = time.Minute
		mux := c.Fetch.(scheme.Mux)
		mux["ftp"], mux["gopher"] = files, gopher.New(gopher.Config{Dial: dial, Limits: limits})
		mux["news"] = nntp.New(nntp.Config{
			Dial: dial, Limits: limits, Now: time.Now, PageSize: 10,
			Servers: []nntp.Server{{Address: news}},
		})
	}
}

// Whatever number a server sends, the response is valid HTTP, and no handler panics (start reports panics). A
// body that is shorter than announced is aborted.
func TestEdgeNumbers(t *testing.T) {
	for _, n := range edgeNumbers() {
		t.Run(n, func(t *testing.T) {
			files := lineServer(t, "220 ready\r\n", "USER", "230 in\r\n", "TYPE", "200 ok\r\n", "CWD", "250 ok\r\n",
				"REST", "350 ok\r\n",
				"SIZE", "213 "+n+"\r\n", "MDTM", "213 20200101000000\r\n", "RETR", "data hello",
				"MLSD", "data type=file;size="+n+"; a\r\n", "LIST",
				"data -rw-r--r-- 1 u g "+n+" Jan 02 2020 a\r\n01-02-20 03:04PM "+n+" b\r\n")
			menu := lineServer(t, "", "/1", "last +"+n+"\r\n+INFO: 0a\ta\tlocalhost\t70\r\n", "/0",
				"last +"+n+"\r\nhello", "", "last 0a\ta\tlocalhost\t"+n+"\r\n.\r\n")
			news := lineServer(t, "200 ready\r\n", "GROUP", "211 "+n+" 1 "+n+" g\r\n", "LIST ACTIVE",
				"215 x\r\ng "+n+" 0 y\r\nh 9 "+n+" y\r\n.\r\n",
				"XOVER", "224 x\r\n"+n+"\ts\tf\td\t<1@h>\t\t"+n+"\t"+n+"\r\n.\r\n", "OVER",
				"224 x\r\n"+n+"\ts\tf\td\t<1@h>\t\t"+n+"\t"+n+"\r\n.\r\n")
			s := start(t, withGateways(t, news))
			targets := []string{
				"ftp://" + files + "/a", "ftp://" + files + "/d/", "ftp://" + files + "/a;type=a",
				"gopher://" + menu + "/", "gopher://" + menu + "/0a",
				"gopher://" + menu + "/0/0%09%09+",
				"gopher://" + menu + "/1/1%09%09+", "news:g", "news:*",
			}
			for _, head := range edgeHeads(n) {
				targets = append(targets, "http://"+always(t, head).addr+"/")
			}
			for _, target := range targets {
				for _, fields := range []string{
					"", "Range: bytes=1-" + n + "\r\n", "Range: bytes=-" + n + "\r\n",
					"Cache-Control: max-stale=" + n + ", min-fresh=" + n + "\r\n",
				} {
					s.answers(t, target, fields)
				}
			}
		})
	}
}

// edgeHeads are responses with a number in each place where HTTP has one.
func edgeHeads(n string) []string {
	const ok = "HTTP/1.1 200 OK\r\n"
	const body = "Content-Length: 5\r\n\r\nhello"
	return []string{
		ok + "Connection: close\r\nContent-Length: " + n + "\r\n\r\nhello",
		ok + "Connection: close\r\nCache-Control: max-age=60\r\nContent-Length: " + n + "\r\n\r\nhello",
		ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + n + "\r\nhello",
		ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello",
		"HTTP/1.1 206 Partial Content\r\nEtag: \"a\"\r\nCache-Control: max-age=60\r\nContent-Range: bytes 0-4/" + n +
			"\r\n" + body,
		"HTTP/1.1 206 Partial Content\r\nEtag: \"a\"\r\nCache-Control: max-age=60\r\nContent-Range: bytes " + n + "-" +
			n + "/*\r\n" + body,
		"HTTP/1.1 206 Partial Content\r\nEtag: \"a\"\r\nCache-Control: max-age=60\r\nContent-Range: bytes 0-" + n +
			"/" + n + "\r\n" + body,
		ok + "Cache-Control: max-age=" + n + ", s-maxage=" + n + ", stale-while-revalidate=" + n + "\r\nAge: " + n +
			"\r\n" + body,
		ok + "Expires: " + n + "\r\nAge: " + n + "\r\nRetry-After: " + n + "\r\n" + body,
	}
}

// answers requires an HTTP response, which may be incomplete.
func (s *server) answers(t *testing.T, target, fields string) {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(testserver.Timeout))
	_, _ = io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+fields+"\r\n")
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return // it was aborted before the first part
	}
	if err != nil {
		t.Errorf("%s %q: %v", target, fields, err)
		return
	}
	defer response.Body.Close()
	if !slices.Contains([]int{200, 206, 404, 416, 502}, response.StatusCode) {
		t.Errorf("%s %q: %d %s", target, fields, response.StatusCode, text(t, response))
	}
	_, _ = io.Copy(io.Discard, response.Body)
}
