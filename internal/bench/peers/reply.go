//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// head is what a client must know of the head of a reply.
type head struct {
	status int
	length int  // of the body
	close  bool // the server closes the connection
	size   int  // of the head itself, with the empty line
}

// errPartial means that the head is not complete.
var errPartial = errors.New("the head of the reply is not complete")

// maxHead is more than what any server sends.
const maxHead = 16 * kibibyte

// parseHead parses the head of a reply to GET that has a Content-Length, at the beginning of
// text (RFC 9112 section 4). It fails for other framings of the body: all servers know the
// length of what is measured.
func parseHead(text []byte) (head, error) {
	end := bytes.Index(text, []byte("\r\n\r\n"))
	if end < 0 {
		if len(text) > maxHead {
			return head{}, fmt.Errorf("the head of the reply has more than %d bytes", maxHead)
		}
		return head{}, errPartial
	}
	line, fields, _ := bytes.Cut(text[:end], []byte("\r\n"))
	h := head{size: end + len("\r\n\r\n"), length: -1}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return head{}, fmt.Errorf("%.40q is no status line", line)
	}
	h.close = line[len("HTTP/1.")] == '0'
	status := line[len("HTTP/1.1 "):len("HTTP/1.1 200")]
	var err error
	if h.status, err = strconv.Atoi(string(status)); err != nil {
		return head{}, fmt.Errorf("status %q: %w", status, err)
	}
	for len(fields) > 0 {
		line, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		if err := h.field(name, bytes.TrimSpace(value)); err != nil {
			return head{}, err
		}
	}
	if h.length < 0 {
		return head{}, errors.New("the reply has no Content-Length")
	}
	return h, nil
}

func (h *head) field(name, value []byte) error {
	switch {
	case len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")):
		length, err := strconv.Atoi(string(value))
		if err != nil || length < 0 {
			return fmt.Errorf("Content-Length %.40q", value)
		}
		h.length = length
	case len(name) == len("Connection") && bytes.EqualFold(name, []byte("Connection")):
		h.close = bytes.EqualFold(value, []byte("close"))
	}
	return nil
}
