package valkey

import (
	"bytes"
	"errors"
	"fmt"
)

// errProtocol means that a server has violated the protocol. The client of the library must not see such data:
// it allocates slices of any announced length, recurses to any depth, and panics if there are more replies than
// commands.
var errProtocol = errors.New("protocol violation by the server")

// errLarge means that a reply exceeds its bounds.
var errLarge = fmt.Errorf("%w: reply larger than the stored value", errProtocol)

// bounds are the limits of one message: bytes of its texts, and elements of its arrays. An element takes 40
// bytes in the client.
type bounds struct{ bytes, elements int }

const (
	maxDepth  = 8       // CLUSTER SHARDS has 5
	maxLine   = 4 << 10 // the longest line of Redis, of its protected mode, has 1 KiB
	maxDigits = 19      // of a number of 64 bits
)

// messages checks a stream of RESP3 messages (which include those of RESP2) without retaining them. It rejects
// types that the client does not need, or that Valkey and Redis do not send: pushes, attributes, blob errors,
// and texts and arrays of unknown length. It is not safe for concurrent use.
type messages struct {
	begin func() (bounds, error) // called before each message; an error rejects it
	end   func()                 // called after each message
	left  bounds                 // remaining for the message

	state  state
	kind   byte // type of the value
	last   bool // the next line end is that of the value
	number int
	digits int
	minus  bool
	bytes  int // of the current line so far, or remaining in the text
	spaces int // in the line

	depth   int
	missing [maxDepth]int // remaining elements at each depth

	start  [len("ERR MOVED")]byte // of the last text
	filled int
	first  [len("ERR MOVED")]byte // of the first text of the message
	texts  int
	err    error
}

type state uint8

const (
	atKind state = iota
	inLine
	inNumber
	inText
	atCR
	atLF
)

// check checks the next bytes. After an error it returns the same error again.
func (m *messages) check(data []byte) error {
	for len(data) > 0 && m.err == nil {
		switch m.state {
		case inText:
			n := min(m.bytes, len(data))
			m.remember(data[:n])
			if m.bytes -= n; m.bytes == 0 {
				m.state = atCR
			}
			data = data[n:]
			continue
		case inNumber:
			data = m.inDigits(data)
		}
		// Most line ends arrive in one piece.
		if len(data) >= 2 && data[0] == '\r' && data[1] == '\n' &&
			(m.state == atCR || m.state == inNumber && m.digits > 0) {
			data = data[2:]
			if m.state == atCR || m.last {
				m.err = m.close()
			} else {
				m.err = m.measured()
			}
		} else if len(data) > 0 {
			m.err = m.next(data[0])
			data = data[1:]
		}
	}
	return m.err
}

// inDigits parses the available digits of a number, and returns the bytes that follow.
func (m *messages) inDigits(data []byte) []byte {
	number, digits := m.number, m.digits
	for len(data) > 0 && data[0]-'0' <= 9 && digits < maxDigits {
		number = min(10*number+int(data[0]-'0'), tooMany)
		digits++
		data = data[1:]
	}
	m.number, m.digits = number, digits
	return data
}

// remember stores the beginning of a text.
func (m *messages) remember(data []byte) {
	if m.filled < len(m.start) {
		m.filled += copy(m.start[m.filled:], data)
	}
}

func (m *messages) next(c byte) error {
	switch m.state {
	case atKind:
		return m.open(c)
	case inLine:
		return m.inLine(c)
	case inNumber:
		return m.inNumber(c)
	case atCR:
		if c != '\r' {
			return fmt.Errorf("%w: text exceeds its length", errProtocol)
		}
		m.state, m.last = atLF, true
		return nil
	default:
		if c != '\n' {
			return fmt.Errorf("%w: line without CR LF", errProtocol)
		}
		if m.last {
			return m.close()
		}
		return m.measured()
	}
}

// open begins a value, and a message if it is the first value.
func (m *messages) open(kind byte) error {
	if m.depth == 0 {
		var err error
		if m.left, err = m.begin(); err != nil {
			return err
		}
		m.texts = 0
	}
	m.kind, m.last = kind, false
	m.number, m.digits, m.minus, m.bytes, m.spaces, m.filled = 0, 0, false, 0, 0, 0
	switch kind {
	case '+', '-', ',', '(', '_', '#':
		m.state, m.last = inLine, true
	case ':', '$', '=', '*', '~', '%':
		m.state, m.last = inNumber, kind == ':'
	default:
		return fmt.Errorf("%w: unknown message type %q", errProtocol, kind)
	}
	return nil
}

// inLine checks a byte of a line. A null and a boolean are rejected at the first wrong byte: the client reads a
// fixed length, and would take the rest for another reply.
func (m *messages) inLine(c byte) error {
	switch {
	case m.kind == '_' && c != '\r', m.kind == '#' && m.bytes == 0 && c != 't' && c != 'f', m.kind == '#' &&
		m.bytes == 1 && c != '\r':
		return fmt.Errorf("%w: invalid null or boolean", errProtocol)
	case c == '\r':
		m.state = atLF
		return m.endOfLine()
	case c == '\n':
		return fmt.Errorf("%w: line without CR LF", errProtocol)
	case m.bytes == maxLine || m.bytes == m.left.bytes:
		return errLarge
	case c == ' ':
		m.spaces++
	}
	m.bytes++
	if m.filled < len(m.start) {
		m.start[m.filled] = c
		m.filled++
	}
	return nil
}

// endOfLine checks a line that is a value. The client reads the third word of a cluster redirection even if it
// is missing.
func (m *messages) endOfLine() error {
	m.left.bytes -= m.bytes
	if m.kind != '-' {
		return nil
	}
	text, spaces := m.start[:m.filled], 2
	if rest, ok := bytes.CutPrefix(text, []byte("ERR ")); ok { // the client removes it
		text = rest
		spaces++
	}
	if m.spaces < spaces && (bytes.HasPrefix(text, []byte("MOVED")) || bytes.HasPrefix(text, []byte("ASK"))) {
		return fmt.Errorf("%w: redirection without a server", errProtocol)
	}
	return nil
}

func (m *messages) inNumber(c byte) error {
	switch {
	case c == '-' && m.digits == 0 && !m.minus:
		m.minus = true
	case c == '\r' && m.digits > 0:
		m.state = atLF
	case c < '0' || c > '9':
		return fmt.Errorf("%w: invalid byte %q in a number", errProtocol, c)
	default: // more digits than inDigits accepts
		return errLarge
	}
	return nil
}

// tooMany is larger than any bound: any larger length may be replaced by it.
const tooMany = 1 << 27

// measured continues after the length of a value.
func (m *messages) measured() error {
	isText := m.kind == '$' || m.kind == '='
	switch {
	case m.minus && m.number == 1 && (m.kind == '$' || m.kind == '*'):
		return m.close() // the null of RESP2
	case m.minus:
		return fmt.Errorf("%w: negative length", errProtocol)
	case isText && m.number > m.left.bytes:
		return errLarge
	case isText:
		m.left.bytes -= m.number
		m.bytes = m.number
		if m.state = inText; m.number == 0 {
			m.state = atCR
		}
		return nil
	}
	if m.kind == '%' {
		m.number *= 2
	}
	switch {
	case m.number > m.left.elements:
		return errLarge
	case m.number == 0:
		return m.close()
	case m.depth == maxDepth:
		return fmt.Errorf("%w: reply nested too deep", errProtocol)
	}
	m.left.elements -= m.number
	m.missing[m.depth] = m.number
	m.depth++
	m.state = atKind
	return nil
}

// close ends a value, and the arrays of which it is the last element.
func (m *messages) close() error {
	m.state = atKind
	if m.texts == 0 {
		m.first = m.start
		clear(m.first[m.filled:])
	}
	m.texts++
	for m.depth > 0 {
		if m.missing[m.depth-1]--; m.missing[m.depth-1] > 0 {
			return nil
		}
		m.depth--
	}
	m.end()
	return nil
}
