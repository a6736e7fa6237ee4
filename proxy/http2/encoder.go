package http2

import (
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"
)

// encoder encodes a field block. It uses no dynamic table, as nginx does: so blocks depend on nothing that was sent
// before, texts of fields are not retained, and the size that a client gives the table (RFC 9113 section 6.5.2) needs
// no more than to be acknowledged.
type encoder struct {
	hpack *hpack.Encoder
	block []byte
	name  []byte
}

func (s *Server) takeEncoder() *encoder {
	if e, ok := s.encoders.Get().(*encoder); ok {
		e.block = e.block[:0]
		return e
	}
	e := &encoder{}
	e.hpack = hpack.NewEncoder(e)
	e.hpack.SetMaxDynamicTableSize(0)
	e.field("x", "") // tells of the size of the table, which is said where it matters
	e.block = e.block[:0]
	return e
}

func (s *Server) giveEncoder(e *encoder) {
	const most = 16 << 10
	if cap(e.block) <= most {
		s.encoders.Put(e)
	}
}

// Write implements io.Writer, for hpack.
func (e *encoder) Write(p []byte) (int, error) {
	e.block = append(e.block, p...)
	return len(p), nil
}

// status appends :status.
func (e *encoder) status(status int) {
	e.name = strconv.AppendInt(e.name[:0], int64(status), 10)
	_ = e.hpack.WriteField(hpack.HeaderField{Name: ":status", Value: text(e.name)}) // Write never fails
}

// text returns bytes as a text, for hpack, which does not retain it without a table.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // see above

// field appends a field, with its name in lower case (RFC 9113 section 8.2.1), and a value without line ends. One that
// is no field by HTTP/2 (RFC 9113 section 8.2.2) is left out.
func (e *encoder) field(name, value string) {
	e.name = e.name[:0]
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		e.name = append(e.name, c)
	}
	lower := text(e.name)
	if connectionField(lower) || !httpguts.ValidHeaderFieldName(lower) {
		return
	}
	value = strings.Trim(value, " \t\r\n")
	if strings.ContainsAny(value, lineEnds) {
		value = replaceLineEnds(value)
	}
	_ = e.hpack.WriteField(hpack.HeaderField{Name: lower, Value: value})
}

const lineEnds = "\r\n\x00"

// replaceLineEnds returns a value with spaces for what RFC 9110 section 5.5 forbids in it.
func replaceLineEnds(value string) string {
	b := []byte(value)
	for i, c := range b {
		if strings.IndexByte(lineEnds, c) >= 0 {
			b[i] = ' '
		}
	}
	return string(b)
}

// connectionField reports whether a field, whose name is in lower case, is about the connection by HTTP/1: RFC 9113
// section 8.2.2.
func connectionField(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	default:
		return false
	}
}
