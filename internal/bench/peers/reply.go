//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// head is the parsed head of a response.
type head struct {
	status int
	length int  // of the body
	close  bool // the server closes the connection
	size   int  // of the head including the empty line
}

// errPartial is the error for an incomplete head.
var errPartial = errors.New("the head of the reply is not complete")

// maxHead exceeds the heads of all servers.
const maxHead = 16 * kibibyte

// parseHead parses the head of a response to GET with a Content-Length at the beginning of text (RFC 9112
// section 4). Other framings are errors: all servers know the length of the measured responses.
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
