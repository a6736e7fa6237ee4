package wais

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// The protocol data units: ISO 23950 section 4.1 and its ASN.1 appendix.
const (
	pduInitRequest     = 20
	pduInitResponse    = 21
	pduSearchRequest   = 22
	pduSearchResponse  = 23
	pduPresentRequest  = 24
	pduPresentResponse = 25
	pduClose           = 48
)

// session is a Z-association: a connection that serves one request. It is not safe for concurrent use.
type session struct {
	conn   net.Conn
	reader *bufio.Reader
	left   int64 // bytes that may still be received
	about  implementation
	ended  chan struct{} // closed after the end of ctx has closed conn
	stop   func() bool
	ctx    context.Context //nolint:containedctx // a session lasts as long as one call
}

// implementation describes the software of a server, as the server sends it.
type implementation struct{ id, name, version string }

// open connects to a server and starts a session. The caller must close it.
func open(ctx context.Context, c Config, r scheme.Request, address string) (*session, error) {
	conn, err := c.Dial(ctx, "tcp", address, r.Check)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	s := &session{conn: conn, reader: bufio.NewReader(conn), left: c.Limits.Bytes, ended: make(chan struct{}), ctx: ctx}
	s.stop = context.AfterFunc(ctx, func() {
		defer close(s.ended)
		_ = conn.Close() // unblocks reads and writes
	})
	if err := s.init(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close ends the session without the close facility of the protocol.
func (s *session) close() {
	if !s.stop() {
		<-s.ended
		return
	}
	_ = s.conn.Close() // no unsent data
}

// from returns the address of the server.
func (s *session) from() netip.AddrPort {
	if tcp, ok := s.conn.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

// exchange sends a request, and returns the response, which must have the given tag.
func (s *session) exchange(request []byte, tag uint32) (element, error) {
	if _, err := s.conn.Write(request); err != nil {
		return element{}, s.broken("sending a request", err)
	}
	first, err := s.reader.Peek(1)
	if err != nil {
		return element{}, s.broken("reading a response", err)
	}
	if first[0]&0xE0 != 0xA0 { // bytes of another protocol may look like a header with a long content
		return element{}, fmt.Errorf("%w: not Z39.50", scheme.ErrInvalidResponse)
	}
	response, read, err := readElement(s.reader, s.left)
	switch {
	case errors.Is(err, errBER):
		return element{}, fmt.Errorf("%w: %w", scheme.ErrInvalidResponse, err)
	case errors.Is(err, errTooLong):
		return element{}, fmt.Errorf("%w: response %w", scheme.ErrInvalidResponse, err)
	case err != nil:
		return element{}, s.broken("reading a response", err)
	}
	s.left -= read
	switch {
	case response.is(contextual, pduClose):
		return element{}, s.closed(response)
	case !response.is(contextual, tag) || !response.constructed:
		return element{}, fmt.Errorf("%w: Z39.50 PDU %d, want %d", scheme.ErrInvalidResponse, response.tag, tag)
	}
	return response, nil
}

// broken wraps the error of a connection, with the cause of ctx if that has ended.
func (s *session) broken(doing string, err error) error {
	if cause := context.Cause(s.ctx); cause != nil {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, resolver.Unreachable(err))
}

// closed returns the error for a server that ends the session: ISO 23950 section 3.2.11.
func (s *session) closed(pdu element) error {
	const closeReason, diagnosticInformation = 211, 3
	reason, _ := pdu.child(closeReason)
	information, _ := pdu.child(diagnosticInformation)
	return fmt.Errorf("%w: session closed by the server, reason %d: %q", resolver.ErrUnreachable, reason.integer(),
		information.bytes())
}

// messageSize is the maximum size of a message in bytes that servers are asked to respect.
const messageSize = 1 << 20

// init is the initialization facility: ISO 23950 section 3.2.1.
func (s *session) init() error {
	size := min(s.left, messageSize)
	response, err := s.exchange(group(contextual, pduInitRequest,
		encode(contextual, false, 3, []byte{5, 0xE0}), // versions 1 to 3
		encode(contextual, false, 4, []byte{6, 0xC0}), // search and present
		number(5, size),   // preferredMessageSize
		number(6, size),   // exceptionalRecordSize
		text(111, "urnd"), // implementationName
	), pduInitResponse)
	if err != nil {
		return err
	}
	get := func(tag uint32) string {
		e, _ := response.child(tag)
		return string(e.bytes())
	}
	s.about = implementation{id: get(110), name: get(111), version: get(112)}
	if result, ok := response.child(12); !ok || !result.boolean() {
		return refuseSession(response)
	}
	return nil
}
