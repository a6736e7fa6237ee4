//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// origin responds to GET requests on one connection:
//
//	/cached/SIZE and /cached/SIZE/...  fresh for an hour
//	/no-store/SIZE                     not to be stored
//
// with a prefix of body. It only does what caches need, so that it uses little of the core that it shares with
// the clients.
func (n *network) origin(c net.Conn) {
	in := bufio.NewReader(c)
	var out []byte
	for {
		path, keep, err := readRequest(in)
		if n.silent.Load() {
			_, _ = io.Copy(io.Discard, in) // until the server closes
			return
		}
		if err != nil {
			return
		}
		n.requests.Add(1)
		var size int
		out, size = appendHead(out[:0], path, time.Now())
		reply := net.Buffers{out, n.body[:size]}
		if _, err := reply.WriteTo(c); err != nil || !keep {
			return
		}
	}
}

// readRequest reads the head of a request without a body. It returns its path, and whether the connection
// persists (RFC 9112 section 9.3).
func readRequest(in *bufio.Reader) (path string, keep bool, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return "", false, err
	}
	method, rest, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
	target, version, _ := strings.Cut(rest, " ")
	if method != "GET" { // such as OPTIONS, by which urnd probes a proxy: closing the connection is a valid response
		return "", false, fmt.Errorf("the origin has only GET, not %q", method)
	}
	if after, ok := strings.CutPrefix(target, "http://"); ok {
		_, target, _ = strings.Cut(after, "/")
	}
	keep = version == "HTTP/1.1"
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return "", false, err
		}
		if len(line) <= len("\r\n") {
			return strings.TrimPrefix(target, "/"), keep, nil
		}
		name, value, _ := strings.Cut(string(line), ":")
		if strings.EqualFold(name, "Connection") && strings.EqualFold(strings.TrimSpace(value), "close") {
			keep = false
		}
	}
}

// appendHead appends the head of the response for a path to out, and returns the size of the body.
func appendHead(out []byte, path string, now time.Time) ([]byte, int) {
	kind, rest, _ := strings.Cut(path, "/")
	digits, _, _ := strings.Cut(rest, "/")
	size, err := strconv.Atoi(digits)
	control := map[string]string{"cached": "max-age=3600", "no-store": "no-store"}[kind]
	if err != nil || size < 0 || size > mebibyte || control == "" {
		return append(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"...), 0
	}
	out = append(out, "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: application/octet-stream\r\nDate: "...)
	out = now.UTC().AppendFormat(out, "Mon, 02 Jan 2006 15:04:05 GMT")
	out = append(out, "\r\nETag: \"1\"\r\nCache-Control: "...)
	out = append(out, control...)
	out = append(out, "\r\nContent-Length: "...)
	out = strconv.AppendInt(out, int64(size), 10)
	return append(out, "\r\n\r\n"...), size
}

// makeBody returns the largest body; smaller ones are prefixes of it. It has a prime period, so that missing
// parts are detected.
func makeBody() []byte {
	data := make([]byte, mebibyte)
	for i := range data {
		data[i] = byte(i % 251)
	}
	return data
}
