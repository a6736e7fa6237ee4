//go:build e2e

package dialogs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// origin is an HTTP/1.1 server that responds according to a script named by the first path segment; the rest of
// the path makes the URL unique to a dialog. It reads and writes bytes itself, because it also sends what HTTP
// servers must not send.
type origin struct {
	listener net.Listener

	mu    sync.Mutex
	gates map[string]*gate // by path: see "gate" in respond
}

// gate is a response that waits until a dialog releases it.
type gate struct {
	arrived, open chan struct{}
	once, came    sync.Once
}

// await waits until the request has arrived.
func (g *gate) await() error {
	select {
	case <-g.arrived:
		return nil
	case <-time.After(waitLimit):
		return errors.New("the origin has not received the request")
	}
}

// release lets the origin respond.
func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

// seen is a request received by the origin.
type seen struct {
	method, target, head string
	fields               map[string]string // last value of each field, by name in lower case
	body                 string
}

func newOrigin(l net.Listener) *origin {
	o := &origin{listener: l, gates: make(map[string]*gate)}
	go acceptAll(l, o.serve)
	return o
}

func (o *origin) Close() error { return o.listener.Close() }

// gate returns the gate of a path, which it creates if necessary.
func (o *origin) gate(path string) *gate {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gates[path] == nil {
		o.gates[path] = &gate{arrived: make(chan struct{}), open: make(chan struct{})}
	}
	return o.gates[path]
}

func (o *origin) serve(conn net.Conn) {
	reader := bufio.NewReader(conn)
	if first, err := reader.Peek(1); err != nil || first[0] == 0x16 { // a TLS client
		return
	}
	for {
		request, err := readSeen(conn, reader)
		if err != nil {
			return
		}
		if !o.respond(conn, reader, request) {
			return
		}
	}
}

// readSeen reads a request with its body. It sends 100 (Continue) if the client waits for it, unless the path
// specifies otherwise.
func readSeen(conn net.Conn, reader *bufio.Reader) (seen, error) {
	request := seen{fields: make(map[string]string)}
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return request, err
		}
		request.head += line
		line = strings.TrimRight(line, "\r\n")
		if request.method == "" {
			words := strings.Fields(line)
			if len(words) != 3 {
				return request, fmt.Errorf("no request line: %q", line)
			}
			request.method, request.target = words[0], words[1]
			continue
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		request.fields[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	if strings.Contains(request.target, "/refusesbody") {
		return request, nil
	}
	if strings.EqualFold(request.fields["expect"], "100-continue") {
		fmt.Fprint(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	if strings.EqualFold(request.fields["transfer-encoding"], "chunked") {
		return request, readChunks(reader, &request)
	}
	length, _ := strconv.Atoi(request.fields["content-length"])
	body := make([]byte, length)
	_, err := io.ReadFull(reader, body)
	request.body = string(body)
	return request, err
}

func readChunks(reader *bufio.Reader, request *seen) error {
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		digits, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ";")
		size, err := strconv.ParseUint(digits, 16, 31)
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		chunk := make([]byte, size+2)
		if _, err := io.ReadFull(reader, chunk); err != nil {
			return err
		}
		request.body += string(chunk[:size])
	}
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "\r\n" {
			return nil
		}
		request.body += "[trailer " + strings.TrimRight(line, "\r\n") + "]"
	}
}

// Texts served by the origin.
const (
	modified = "Wed, 01 May 2019 10:00:00 GMT"
	later    = "Thu, 02 May 2019 10:00:00 GMT"
	fresh    = "Cache-Control: max-age=3600\r\n"
	dated    = "Last-Modified: " + modified + "\r\nETag: \"v1\"\r\n"
)

func digits(n int) string { return strings.Repeat("0123456789", n/10+1)[:n] }

// replyOf returns the scripts that are a constant response with a head and a body.
func replyOf(script string) (status, fields, body string, ok bool) {
	plain := "Content-Type: text/plain\r\n"
	switch script {
	case "static":
		return "200 OK", plain + fresh + dated, digits(1000), true
	case "short":
		return "200 OK", plain + fresh + dated, "hello\n", true
	case "weak":
		return "200 OK", plain + fresh + "ETag: W/\"v1\"\r\n", "hello\n", true
	case "bare":
		return "200 OK", "", "bare\n", true
	case "heuristic":
		return "200 OK", plain + "Last-Modified: " + modified + "\r\n", "heuristic\n", true
	case "nocache":
		return "200 OK", plain + "Cache-Control: no-cache\r\n" + dated, "hello\n", true
	case "nostore":
		return "200 OK", plain + "Cache-Control: no-store\r\n", "hello\n", true
	case "private":
		return "200 OK", plain + "Cache-Control: private, max-age=3600\r\n", "hello\n", true
	case "public":
		return "200 OK", plain + "Cache-Control: public, s-maxage=7200, max-age=3600\r\n", "hello\n", true
	case "stale":
		return "200 OK", plain + "Cache-Control: max-age=0\r\n" + dated, "hello\n", true
	case "must":
		return "200 OK", plain + "Cache-Control: max-age=0, must-revalidate\r\n" + dated, "hello\n", true
	case "swr":
		return "200 OK", plain + "Cache-Control: max-age=0, stale-while-revalidate=600\r\n" + dated, "hello\n", true
	case "vary":
		return "200 OK", plain + fresh + "Vary: Accept-Language, X-Kind\r\n", "hello\n", true
	case "varyall":
		return "200 OK", plain + fresh + "Vary: *\r\n", "hello\n", true
	case "large":
		return "200 OK", "Content-Type: application/octet-stream\r\n" + fresh + dated, digits(300_000), true
	case "larger":
		return "200 OK", "Content-Type: application/octet-stream\r\n" + fresh, digits(9 << 20), true
	case "cookie":
		return "200 OK", plain + fresh + "Set-Cookie: a=b; Path=/\r\nSet-Cookie: c=d\r\n", "hello\n", true
	case "aged":
		return "200 OK", plain + fresh + "Age: 300\r\n", "hello\n", true
	case "expired":
		return "200 OK", plain + "Expires: " + modified + "\r\nDate: " + later + "\r\n", "hello\n", true
	case "expires0":
		return "200 OK", plain + "Expires: 0\r\n", "hello\n", true
	case "html":
		return "200 OK", "Content-Type: text/html; charset=utf-8\r\n" + fresh,
			"<!DOCTYPE html><title>a</title><script>alert(1)</script>\n", true
	case "svg":
		return "200 OK", "Content-Type: image/svg+xml\r\n" + fresh, "<svg xmlns='http://www.w3.org/2000/svg'/>\n", true
	case "typeless":
		return "200 OK", fresh, "<!DOCTYPE html><title>a</title>\n", true
	case "gzip":
		return "200 OK", plain + fresh + "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n", "not really gzip\n",
			true
	case "hop":
		return "200 OK",
			plain + fresh +
				"Connection: X-Hop, close\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: " +
				"Basic\r\nUpgrade: h2c\r\n", "hello\n", true
	case "spelled":
		return "200 OK",
			"content-TYPE: text/plain\r\nX-oDD-name:   spaced\t \r\nX-Empty:\r\nX-Twice: a\r\nx-twice: " +
				"b\r\nX-Latin: \xe4\r\n" + fresh, "hello\n", true
	case "via":
		return "200 OK",
			plain + fresh +
				"Via: 1.0 before, 1.1 other (comment)\r\nWarning: 110 - \"stale\"\r\nCache-Status: before; " +
				"hit\r\nProxy-Status: before\r\nServer: origin\r\n", "hello\n", true
	case "cors":
		return "200 OK",
			plain + fresh +
				"Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: X\r\nContent-Security-Policy: " +
				"default-src 'self'\r\nStrict-Transport-Security: max-age=600\r\n", "hello\n", true
	case "auth":
		return "401 Unauthorized", plain + "WWW-Authenticate: Basic realm=\"origin\"\r\n", "who are you?\n", true
	case "ntlm":
		return "401 Unauthorized", plain + "WWW-Authenticate: NTLM\r\n", "who are you?\n", true
	case "moved":
		return "301 Moved Permanently", plain + fresh + "Location: /static/moved\r\n", "moved\n", true
	case "found":
		return "302 Found", "Location: http://second.example:8000/static/found\r\n", "", true
	case "loop":
		return "307 Temporary Redirect", "Location: /loop/x\r\n", "", true
	case "multiple":
		return "300 Multiple Choices", plain + fresh, "a\nb\n", true
	case "missing":
		return "404 Not Found", plain + fresh, "no such thing\n", true
	case "forbidden":
		return "403 Forbidden", plain, "no\n", true
	case "gone":
		return "410 Gone", plain + fresh, "gone\n", true
	case "error":
		return "500 Internal Server Error", plain, "oops\n", true
	case "unavailable":
		return "503 Service Unavailable", plain + "Retry-After: 600\r\n", "later\n", true
	case "odd":
		return "299 Oddly Enough", plain, "odd\n", true
	case "phrase":
		return "200 ", plain, "no phrase\n", true
	case "long":
		return "200 OK", plain + fresh + "X-Long: " + strings.Repeat("x", 60_000) + "\r\n", "hello\n", true
	}
	return "", "", "", false
}

// bytesOf returns the scripts that are bytes followed by closing the connection.
func bytesOf(script string) (string, bool) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + fresh
	all, ok := map[string]string{
		"chunked": head + "Transfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n6;ext=1\r\nworld\n\r\n0\r\n\r\n",
		"trailer": head +
			"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n6\r\nhello\n\r\n0\r\nX-Sum: 42\r\nX-Other: 1\r\n\r\n",
		"early": "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" + head +
			"Content-Length: 6\r\n\r\nhello\n",
		"processing": "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + head +
			"Content-Length: 6\r\n\r\nhello\n",
		"unasked":      "HTTP/1.1 100 Continue\r\n\r\n" + head + "Content-Length: 6\r\n\r\nhello\n",
		"untilclose":   head + "Connection: close\r\n\r\nuntil the end\n",
		"http10":       "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nfrom HTTP/1.0\n",
		"http10length": "HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n",
		"cut":          head + "Content-Length: 100\r\n\r\n" + digits(50),
		"cutchunk":     head + "Transfer-Encoding: chunked\r\n\r\n32\r\n" + digits(20),
		"cuthead":      "HTTP/1.1 200 OK\r\nContent-Ty",
		"badchunk":     head + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
		"empty":        "",
		"garbage":      "this is no HTTP\r\n\r\n",
		"twolengths":   head + "Content-Length: 6\r\nContent-Length: 7\r\n\r\nhello\n!",
		"samelengths":  head + "Content-Length: 6\r\nContent-Length: 6\r\n\r\nhello\n",
		"badlength":    head + "Content-Length: +6\r\n\r\nhello\n",
		"both":         head + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello\n\r\n0\r\n\r\n",
		"teother":      head + "Transfer-Encoding: gzip, chunked\r\n\r\n6\r\nhello\n\r\n0\r\n\r\n",
		"fold":         head + "X-Folded: a\r\n b\r\nContent-Length: 6\r\n\r\nhello\n",
		"nul":          head + "X-Nul: a\x00b\r\nContent-Length: 6\r\n\r\nhello\n",
		"badname":      head + "X Bad: a\r\nContent-Length: 6\r\n\r\nhello\n",
		"barelf":       "HTTP/1.1 200 OK\nContent-Length: 6\n\nhello\n",
		"extra":        head + "Content-Length: 6\r\n\r\nhello\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
		"http2":        "HTTP/2.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n",
		"status99":     "HTTP/1.1 99 Low\r\nContent-Length: 6\r\n\r\nhello\n",
		"status1000":   "HTTP/1.1 1000 High\r\nContent-Length: 6\r\n\r\nhello\n",
		"none204":      "HTTP/1.1 204 No Content\r\n" + fresh + "ETag: \"v1\"\r\n\r\n",
		"length204":    "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
		"reset205":     "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n",
		"unasked304":   "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n",
		"unasked206":   "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/10\r\nContent-Length: 5\r\n\r\nhello",
		"unasked101":   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n",
		"manyfields": head + strings.Repeat("X-Many: 0123456789012345678901234567890123456789\r\n", 6000) +
			"Content-Length: 6\r\n\r\nhello\n",
	}[script]
	return all, ok
}

// headOf returns a response without its body, including preceding interim responses.
func headOf(text string) string {
	final := max(0, strings.Index(text, " 200 "))
	if end := strings.Index(text[final:], "\r\n\r\n"); end >= 0 {
		return text[:final+end+4]
	}
	return text
}

// respond responds to a request, and reports whether the connection persists.
func (o *origin) respond(conn net.Conn, reader *bufio.Reader, request seen) (stays bool) {
	path, _, _ := strings.Cut(request.target, "?")
	script, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if text, ok := bytesOf(script); ok {
		if request.method == "HEAD" {
			text = headOf(text)
		}
		_, _ = io.WriteString(conn, text)
		return script == "chunked" || script == "trailer" || script == "early" // these delimit their end
	}
	status, fields, body, ok := replyOf(script)
	switch {
	case script == "echo" || script == "refusesbody":
		status, fields, body = "200 OK", "Content-Type: text/plain\r\nCache-Control: no-store\r\n",
			request.head+request.body
		if len(request.body) > 1000 {
			body = fmt.Sprintf("%s(%d bytes)", request.head, len(request.body))
		}
		if request.method == "HEAD" {
			body = "its length would be that of fields which differ from run to run"
		}
		if script == "refusesbody" {
			status, fields = "413 Content Too Large", fields+"Connection: close\r\n"
		}
	case script == "created":
		status, fields, body = "201 Created", "Location: /static/created\r\nContent-Type: text/plain\r\n", "created\n"
	case script == "ranges":
		status, fields, body = rangeOf(request)
	case script == "gate":
		g := o.gate(path)
		g.came.Do(func() { close(g.arrived) })
		<-g.open
		status, fields, body = "200 OK", "Content-Type: text/plain\r\n"+fresh, "the gate is open\n"
	case script == "websocket" && strings.EqualFold(request.fields["upgrade"], "websocket"):
		fmt.Fprintf(conn,
			"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "+
				"of(%s)\r\n\r\n", request.fields["sec-websocket-key"])
		_, _ = io.Copy(conn, reader)
		return false
	case script == "reset":
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return false
	case !ok:
		status, fields, body = "404 Not Found", "Content-Type: text/plain\r\n", "no such script\n"
	}
	if strings.Contains(fields, "ETag: \"v1\"") &&
		(request.fields["if-none-match"] == `"v1"` || request.fields["if-modified-since"] == modified) {
		fmt.Fprintf(conn, "HTTP/1.1 304 Not Modified\r\n%s\r\n", fields)
		return true
	}
	text := fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n", status, fields, len(body))
	if request.method != "HEAD" {
		text += body
	}
	_, err := io.WriteString(conn, text)
	return err == nil && !strings.Contains(fields, "Connection:")
}

// rangeOf is the script of a resource that supports single ranges.
func rangeOf(request seen) (status, fields, body string) {
	body = digits(100)
	fields = "Content-Type: text/plain\r\nAccept-Ranges: bytes\r\n" + fresh + dated
	var first, last int
	if n, _ := fmt.Sscanf(request.fields["range"], "bytes=%d-%d", &first, &last); n == 2 && first <= last &&
		last < len(body) {
		return "206 Partial Content", fields + fmt.Sprintf("Content-Range: bytes %d-%d/%d\r\n", first, last, len(body)),
			body[first : last+1]
	}
	return "200 OK", fields, body
}
