package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// smuggled2 is an HTTP/2 request that would become another one, or two, in HTTP/1 to the server of the site
// (RFC 9113 section 10.3). In its texts, {s} is a request that must not arrive there.
type smuggled2 struct {
	name, section string
	block         []string // fields of the header; "" for :path is that of the payload
	data, trailer string   // data of a stream that continues, and a trailer field, "" for none
	want          outcome
}

// smuggledByHTTP2 send the requests to the site, each followed by a marker.
func (s *stage) smuggledByHTTP2() []payload {
	var payloads []payload
	for _, r := range allSmuggled2() {
		id := s.id()
		evil := "GET /smuggled/" + id + " HTTP/1.1\r\nHost: " + siteHost + "\r\n\r\n"
		fill := strings.NewReplacer("{s}", evil, "{id}", id)
		s.origin.on("/p/"+id, counts)
		s.origin.on(
			"/marker/"+id,
			keeps(
				"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "+strconv.Itoa(len(id))+"\r\n\r\n"+id,
			),
		)
		payloads = append(payloads, payload{
			name:    r.name,
			section: r.section,
			shows:   fill.Replace(strings.Join(r.block, "\n") + "\n\n" + r.data + "\n" + r.trailer),
			play: func(ctx context.Context) error {
				c, err := s.hostile(ctx, s.attacker())
				if err != nil {
					return err
				}
				defer c.conn.Close()
				if err := r.play(ctx, c, fill, id); err != nil {
					return fmt.Errorf("%w: %s", err, c)
				}
				if s.origin.saw("/smuggled/"+id) != nil {
					return errors.New("smuggled: the origin received a request that was part of another one")
				}
				return r.arrived(s.origin.saw("/p/"+id) != nil)
			},
		})
	}
	return inFamily("frames: smuggling", payloads)
}

// counts is a script that responds with the length of the request content.
func counts(conn net.Conn, r *http.Request) bool {
	if r.Header.Get("Expect") != "" {
		_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return false
	}
	return keeps(
		fmt.Sprintf(
			"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
			n,
			strings.Repeat("a", int(n)),
		),
	)(
		conn,
		r,
	)
}

// play sends the request and the marker, and checks both results.
func (r smuggled2) play(ctx context.Context, c *hostile, fill *strings.Replacer, id string) error {
	var fields []string
	for _, field := range r.block {
		fields = append(fields, fill.Replace(field))
	}
	data := fill.Replace(r.data)
	c.headers(1, r.data == "" && r.trailer == "", header(fields...))
	if data != "" {
		_ = c.WriteData(1, r.trailer == "", []byte(data))
	}
	if r.trailer != "" {
		c.headers(1, true, header(fill.Replace(r.trailer)))
	}
	if err := c.await(ctx, func(h *heard) bool { return h.over() || h.done(1) }); err != nil {
		return err
	}
	status, length := 0, 0
	c.now(func(h *heard) bool { status, length = h.status[1], h.bytes[1]; return true })
	switch {
	case status >= 500 && status != 501:
		return errors.New("the fault is the client's")
	case (r.want == refused || r.want == declined) && status > 0 && status < 400:
		return errors.New("it must not be answered")
	case r.want == answered && (status == 0 || status >= 400):
		return errors.New("it is legal and must be answered")
	case r.want == answered && length != len(data):
		return fmt.Errorf("of %d bytes %d have arrived", len(data), length)
	}
	if c.now((*heard).over) {
		return nil
	}
	c.headers(3, true, getBlock("/marker/"+id))
	if err := c.await(ctx, func(h *heard) bool { return h.done(3) }); err != nil {
		return err
	}
	if !c.now(func(h *heard) bool { return h.status[3] == 200 && h.bytes[3] == len(id) }) {
		return errors.New("the next response is not the right one")
	}
	return nil
}

// arrived checks whether the origin may receive the request.
func (r smuggled2) arrived(seen bool) error {
	if r.want == refused && seen {
		return errors.New("it must be refused, but has reached the origin")
	}
	return nil
}

func allSmuggled2() []smuggled2 {
	var all []smuggled2
	start := func(method string, fields ...string) []string {
		return append(
			[]string{":method: " + method, ":scheme: https", ":path: /p/{id}", ":authority: " + siteHost},
			fields...)
	}
	add := func(name, section, data, trailer string, want outcome, block []string) {
		all = append(all, smuggled2{name, "RFC 9113 section " + section, block, data, trailer, want})
	}
	for _, method := range []string{"POST", "GET", "DELETE", "PUT", "QUERY"} {
		add("content of "+method, "8.1", "{s}", "", answered, start(method))
		add("content of "+method+" with a trailer", "8.1", "{s}", "x: y", answered, start(method))
	}
	// h2.CL: the length differs from that of the content.
	for _, length := range []string{
		"0", "1", "10000", "-1", "+5", "5, 5", "0x5", "5 ", " 5", "5\x00", "5.0", "05", "", "99999999999999999999",
		"1\r\n\r\n{s}",
	} {
		want := refused
		switch length {
		case "0":
			want = either // it is answered before the content has arrived
		case "1", "10000", "05":
			want = declined // the origin receives its header before that
		}
		add(
			fmt.Sprintf("Content-Length: %q", length), "8.1.1", "{s}", "", want,
			start("POST", "content-length: "+length),
		)
	}
	add("two lengths", "8.1.1", "12345", "", refused, start("POST", "content-length: 5", "content-length: 0"))
	add(
		"a length that is said twice", "8.1.1", "12345", "", either,
		start("POST", "content-length: 5", "content-length: 5"),
	)
	add("a length without content", "8.1.1", "", "", refused, start("POST", "content-length: 5"))
	add("a length and no content but a trailer", "8.1.1", "", "x: y", declined, start("POST", "content-length: 5"))
	for _, name := range []string{
		"content_length", "content-length ", "content-length\t", " content-length", "content-length:",
		"x\r\ncontent-length", "content-Length",
	} {
		want := refused
		if name == "content_length" {
			want = either
		}
		add(fmt.Sprintf("a field %q", name), "8.2.1", "{s}", "", want, start("POST", name+": 0"))
	}
	// h2.TE: the content is chunked for a recipient to which the coding is forwarded.
	for _, name := range []string{
		"transfer-encoding", "Transfer-Encoding", "transfer_encoding", "transfer-encoding ", "transfer-encoding\t",
		"x\r\ntransfer-encoding", "x: y\r\ntransfer-encoding",
		"transfer\u2010encoding", "transfer-encodin\u212a", "connection", "upgrade", "keep-alive",
		"proxy-connection", "http2-settings", "te",
	} {
		want := refused
		switch name {
		case "transfer_encoding", "http2-settings":
			want = either
		}
		for _, value := range []string{"chunked", "\x0bchunked", "chunked\r\n\r\n{s}", "identity, chunked"} {
			add(fmt.Sprintf("%q: %q", name, value), "8.2.2", "0\r\n\r\n{s}", "", want, start("POST", name+": "+value))
			if want == either {
				break
			}
		}
	}
	for _, value := range []string{
		"a\r\ncontent-length: 0", "a\ntransfer-encoding: chunked", "a\r\n\r\n{s}", "a\x00", "a\r", "\na", " a",
		"a ", "\ta",
	} {
		for _, field := range []string{
			"x", "cookie", "user-agent", "accept", "expect", "host", "range", "content-type",
		} {
			add(fmt.Sprintf("%s: %q", field, value), "8.2.1", "{s}", "", refused, start("POST", field+": "+value))
		}
	}
	for _, trailer := range []string{
		"content-length: 0", "transfer-encoding: chunked", "host: evil", "trailer: host", "connection: close",
	} {
		add(
			"a trailer "+trailer, "8.1", "{s}", trailer, either,
			start("POST", "trailer: "+trailer[:strings.Index(trailer, ":")]),
		)
	}
	for _, trailer := range []string{
		":path: /smuggled/{id}", ":method: GET", ":status: 200", "x: a\r\ny: b", "x\r\ny: b", "X: y", "x\x00: y",
		": y",
	} {
		add(fmt.Sprintf("a trailer %q", trailer), "8.1", "{s}", trailer, either, start("POST"))
	}
	for _, method := range []string{
		"GET /smuggled/{id} HTTP/1.1\r\nHost: a\r\n\r\nGET", "GET\r\n", "GET /smuggled/{id}", "\rGET", "GET\t",
		"GE\x00T", "",
	} {
		add(fmt.Sprintf("method %q", method), "8.3.1", "", "", refused, start(method))
	}
	pseudo := func(scheme, path, authority string, fields ...string) []string {
		return append(
			[]string{":method: GET", ":scheme: " + scheme, ":path: " + path, ":authority: " + authority},
			fields...)
	}
	for _, path := range []string{
		"/p/{id} HTTP/1.1\r\nHost: a\r\n\r\n{s}", "/p/{id}\r\nx: y", "/p/{id} HTTP/1.0", "/p/{id}\tHTTP/1.1",
		"/p/{id}\x00", "p/{id}", "", " /p/{id}", "/p/{id}\n", "*",
		"http://" + siteHost + "/p/{id}", "/p/{id}\x7f",
	} {
		add(fmt.Sprintf("path %q", path), "8.3.1", "", "", refused, pseudo("https", path, siteHost))
	}
	for _, authority := range []string{
		siteHost + "\r\nx: y", siteHost + " ", " " + siteHost, siteHost + "/smuggled/{id}?",
		"a@" + siteHost + "\r\n", siteHost + "\x00", siteHost + ", a", siteHost + "\t",
	} {
		add(fmt.Sprintf("authority %q", authority), "8.3.1", "", "", refused, pseudo("https", "/p/{id}", authority))
	}
	for _, scheme := range []string{
		"", "https\r\nx: y", "https://" + siteHost + "/smuggled/{id}?", "ftp", "https ", "h2",
	} {
		add(fmt.Sprintf("scheme %q", scheme), "8.3.1", "", "", refused, pseudo(scheme, "/p/{id}", siteHost))
	}
	for _, again := range []string{
		":method: POST", ":scheme: https", ":path: /smuggled/{id}", ":authority: a", ":protocol: websocket",
		":status: 200", ":: a", ":Path: /a",
	} {
		add("again "+again, "8.3", "", "", refused, start("GET", again))
		add("behind a field "+again, "8.3", "", "", refused, start("GET", "x: y", again))
		if name, _, _ := strings.Cut(again[1:], ":"); name != "" {
			add("before the others "+again, "8.3", "", "", refused, append([]string{again}, start("GET")...))
		}
	}
	for _, host := range []string{"evil.example", siteHost + ":1", siteHost + ", evil.example", ""} {
		add(fmt.Sprintf("Host: %q", host), "8.3.1", "", "", refused, start("GET", "host: "+host))
	}
	add("two hosts", "8.3.1", "", "", refused, start("GET", "host: "+siteHost, "host: "+siteHost))
	add("crumbs of a cookie with a line", "8.2.3", "", "", refused, start("GET", "cookie: a=b", "cookie: c\r\nx: y"))
	add("Expect, and the content at once", "8.1", "{s}", "", answered, start("POST", "expect: 100-continue"))
	return all
}
