// Package slp discovers resolution servers by the Service Location Protocol, version 2: RFC 2608. It is a user
// agent: it queries the configured directory agents, or all agents of a multicast group. A canonical
// resolver.Query enters, whose namespace is the predicate of a Service Request; the discovered servers are
// queried by THTTP (package thttp), and their resolver.Answer or a negative answer leaves.
package slp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Constants of RFC 2608 section 8.
const (
	version     = 2
	srvRqst     = 1
	srvRply     = 2
	daAdvert    = 8
	flagOver    = 0x80 // in the first byte of the flags
	flagMcast   = 0x20
	headerSize  = 14 // without the language tag
	maxDatagram = 1400
	maxMessage  = 1<<24 - 1
)

// request is a Service Request, section 8.1.
type request struct {
	xid        uint16
	multicast  bool
	responders []string // addresses of agents that have already answered
	lang       string
	service    string // "service:urn-resolver:thttp"
	scopes     []string
	predicate  string // LDAPv3 filter
}

// entry is a URL Entry, section 4.3.
type entry struct {
	url      string
	lifetime uint16 // in seconds
}

// reply is a Service Reply, section 8.2.
type reply struct {
	xid      uint16
	overflow bool // the reply did not fit into a datagram
	lang     string
	code     uint16
	entries  []entry
}

// message returns the encoding of r.
func (r request) message() ([]byte, error) {
	var flags byte
	if r.multicast {
		flags = flagMcast
	}
	dst := []byte{version, srvRqst, 0, 0, 0, flags, 0, 0, 0, 0}
	dst = binary.BigEndian.AppendUint16(dst, r.xid)
	for _, field := range []string{
		// The last field, the SPI, is empty: signatures are not verified.
		r.lang, strings.Join(r.responders, ","), r.service, joinEscaped(r.scopes), r.predicate, "",
	} {
		if len(field) > 1<<16-1 {
			return nil, errTooLong
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(field))) //nolint:gosec // checked above
		dst = append(dst, field...)
	}
	if len(dst) > maxMessage {
		return nil, errTooLong
	}
	putLength(dst)
	return dst, nil
}

var errTooLong = errors.New("request longer than an SLP message may be")

// putLength sets the length field of a message, which has 24 bits.
func putLength(message []byte) {
	n := len(message)
	message[2], message[3], message[4] = byte(n>>16), byte(n>>8), byte(n) //nolint:gosec // its three bytes
}

// messageLength returns the length field of a message, or 0 if the header is incomplete.
func messageLength(message []byte) int {
	if len(message) < 5 {
		return 0
	}
	return int(message[2])<<16 | int(message[3])<<8 | int(message[4])
}

// joinEscaped encodes a string-list, section 6.4, with reserved characters escaped.
func joinEscaped(list []string) string {
	escaped := make([]string, len(list))
	for i, s := range list {
		escaped[i] = escape(s)
	}
	return strings.Join(escaped, ",")
}

// escape encodes each character that is reserved by section 5.0 or in an LDAPv3 filter as a backslash and two
// hexadecimal digits.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c == 0x7F || strings.IndexByte(`(),\!<=>~*;+`, c) >= 0 {
			fmt.Fprintf(&b, `\%02x`, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

var errMessage = errors.New("malformed reply (RFC 2608)")

// parseReply parses a Service Reply. It may end after an error code (section 7), and with the overflow flag its
// last entry may be truncated.
func parseReply(message []byte) (reply, error) {
	in := reader{message}
	head, ok := in.take(headerSize - 2)
	if !ok || head[0] != version || head[1] != srvRply || messageLength(message) < headerSize {
		return reply{}, errMessage
	}
	r := reply{overflow: head[5]&flagOver != 0, xid: binary.BigEndian.Uint16(head[10:])}
	if r.lang, ok = in.text(); !ok {
		return reply{}, errMessage
	}
	if r.code, ok = in.number(); !ok {
		return reply{}, errMessage
	}
	if r.code != 0 {
		return r, nil
	}
	count, ok := in.number()
	if !ok {
		return reply{}, errMessage
	}
	for range count {
		e, ok := in.entry()
		if !ok && r.overflow {
			return r, nil
		}
		if !ok {
			return reply{}, errMessage
		}
		r.entries = append(r.entries, e)
	}
	return r, nil
}

// parseAdvert parses a DA Advertisement, section 8.5, up to its boot time, and returns its XID. A boot time of
// 0 means that the agent is shutting down (section 12.1), and is an error.
func parseAdvert(message []byte) (xid uint16, err error) {
	in := reader{message}
	head, ok := in.take(headerSize - 2)
	if !ok || head[0] != version || head[1] != daAdvert {
		return 0, errMessage
	}
	if _, ok = in.text(); !ok {
		return 0, errMessage
	}
	code, ok := in.number()
	if !ok || code != 0 {
		return 0, errMessage
	}
	boot, ok := in.take(4)
	if !ok || binary.BigEndian.Uint32(boot) == 0 {
		return 0, errMessage
	}
	return binary.BigEndian.Uint16(head[10:]), nil
}

// reader decodes the fields of a message in order.
type reader struct{ rest []byte }

func (r *reader) take(n int) ([]byte, bool) {
	if n > len(r.rest) {
		return nil, false
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken, true
}

func (r *reader) number() (uint16, bool) {
	b, ok := r.take(2)
	if !ok {
		return 0, false
	}
	return binary.BigEndian.Uint16(b), true
}

func (r *reader) text() (string, bool) {
	n, ok := r.number()
	if !ok {
		return "", false
	}
	b, ok := r.take(int(n))
	return string(b), ok
}

// entry decodes a URL Entry: a reserved byte, the lifetime, the URL, and authentication blocks, which are
// skipped since the request had no SPI.
func (r *reader) entry() (entry, bool) {
	if _, ok := r.take(1); !ok {
		return entry{}, false
	}
	lifetime, ok := r.number()
	if !ok {
		return entry{}, false
	}
	url, ok := r.text()
	if !ok {
		return entry{}, false
	}
	blocks, ok := r.take(1)
	if !ok {
		return entry{}, false
	}
	for range blocks[0] { // section 9.2: descriptor, and the length of the block including both
		head, ok := r.take(4)
		if !ok {
			return entry{}, false
		}
		size := int(binary.BigEndian.Uint16(head[2:]))
		if size < len(head) {
			return entry{}, false
		}
		if _, ok := r.take(size - len(head)); !ok {
			return entry{}, false
		}
	}
	return entry{url: url, lifetime: lifetime}, true
}

// errorNames are the error codes of section 7.
var errorNames = map[uint16]string{
	1: "LANGUAGE_NOT_SUPPORTED", 2: "PARSE_ERROR", 3: "INVALID_REGISTRATION", 4: "SCOPE_NOT_SUPPORTED",
	5: "AUTHENTICATION_UNKNOWN", 6: "AUTHENTICATION_ABSENT", 7: "AUTHENTICATION_FAILED", 9: "VER_NOT_SUPPORTED",
	10: "INTERNAL_ERROR", 11: "DA_BUSY_NOW", 12: "OPTION_NOT_UNDERSTOOD", 13: "INVALID_UPDATE",
	14: "MSG_NOT_SUPPORTED", 15: "REFRESH_REJECTED",
}

// languageNotSupported is not a failure: no service is registered in the language.
const languageNotSupported = 1

// codeError is the error code in a reply.
type codeError uint16

func (c codeError) Error() string {
	if name, ok := errorNames[uint16(c)]; ok {
		return "reply with error " + name
	}
	return fmt.Sprintf("reply with error %d", uint16(c))
}
