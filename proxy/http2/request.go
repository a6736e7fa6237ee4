package http2

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/httpmessage"
)

// A field block may have a minimum of CONTINUATION frames, and one more per KiB of a field section:
// legitimate clients send full frames.
const (
	minContinuations = 16
	bytesPerPart     = 1 << 10
)

// blockDecoder decodes field blocks. Each is decoded to its end, since it changes the dynamic table: RFC 7541
// section 2.3.2.
type blockDecoder struct {
	decoder   *hpack.Decoder
	fields    []hpack.HeaderField // valid until the next block
	left      int                 // rest of the size of a field section
	encoded   int                 // bytes
	tooLarge  bool                // fields is incomplete
	malformed bool                // fields is incomplete
	regular   bool                // a regular field, not a pseudo-header field, was received
}

// emit adds a decoded field.
func (c *connection) emit(f hpack.HeaderField) {
	b := &c.block
	if b.left -= int(f.Size()); b.left < 0 {
		b.tooLarge = true
	}
	b.malformed = b.malformed || !b.valid(f)
	if b.tooLarge || b.malformed {
		b.decoder.SetEmitEnabled(false)
		return
	}
	b.fields = append(b.fields, f)
}

// valid reports whether a field is valid at its position: RFC 9113 sections 8.2.1 and 8.3.
func (b *blockDecoder) valid(f hpack.HeaderField) bool {
	v := f.Value
	if !httpguts.ValidHeaderFieldValue(v) || v != "" && (blank(v[0]) || blank(v[len(v)-1])) {
		return false
	}
	if f.IsPseudo() {
		return !b.regular
	}
	b.regular = true
	for i := range len(f.Name) {
		if c := f.Name[i]; 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return httpguts.ValidHeaderFieldName(f.Name)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// readBlock reads the field block that begins with a HEADERS frame. An error ends the connection.
func (c *connection) readBlock(f *http2.HeadersFrame) error {
	b := &c.block
	clear(b.fields)
	*b = blockDecoder{decoder: b.decoder, fields: b.fields[:0], left: c.maxList()}
	b.decoder.SetEmitEnabled(true)
	most := minContinuations + c.server.config.MaxHeaderBytes/bytesPerPart
	fragment, ends := f.HeaderBlockFragment(), f.HeadersEnded()
	for n := 0; ; n++ {
		if b.encoded += len(fragment); b.encoded > 2*c.maxList() || n > most {
			return &connectionError{http2.ErrCodeEnhanceYourCalm, "a field block is too large"}
		}
		if _, err := b.decoder.Write(fragment); err != nil {
			return &connectionError{http2.ErrCodeCompression, err.Error()}
		}
		if ends {
			break
		}
		f, err := c.readFrame()
		if err != nil {
			return err
		}
		next, ok := f.(*http2.ContinuationFrame)
		if !ok {
			return protocolError("a field block is incomplete")
		}
		fragment, ends = next.HeaderBlockFragment(), next.HeadersEnded()
	}
	c.endBlock()
	if err := b.decoder.Close(); err != nil {
		return &connectionError{http2.ErrCodeCompression, err.Error()}
	}
	return nil
}

// headers handles the header of a request, or its trailer: RFC 9113 section 8.1.
func (c *connection) headers(f *http2.HeadersFrame) error {
	id, ends := f.StreamID, f.StreamEnded()
	malformed := f.HasPriority() && f.Priority.StreamDep == id
	if err := c.readBlock(f); err != nil {
		return err
	}
	s, err := c.open(id, ends, malformed || c.block.malformed)
	if s == nil || err != nil {
		return err
	}
	refusal, ok := "", true
	s.body.left, s.body.ended = -1, ends
	if c.block.tooLarge {
		_, _ = s.takePseudo(c.block.fields) // the error response to HEAD has no content
	} else {
		refusal, ok = s.parse(c.block.fields, ends)
	}
	c.mu.Lock()
	if !ok {
		defer c.mu.Unlock()
		s.giveBack()
		return c.resetID(id, http2.ErrCodeProtocol)
	}
	c.streams[id] = s
	c.countTunnels()
	if len(c.out) >= maxOutput/2 {
		c.flush()
	}
	c.mu.Unlock()
	s.begin(refusal)
	if refusal == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count()
}

// open returns a stream for a request; nil for a trailer or a rejected request. An error ends the connection.
func (c *connection) open(id uint32, ends, malformed bool) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.streams[id]; s != nil {
		return nil, c.trailer(s, ends)
	}
	switch {
	case id%2 == 0:
		return nil, protocolError("an even stream identifier")
	case c.ignores(id), c.resets.has(id):
		return nil, c.count()
	case id <= c.last:
		return nil, &connectionError{http2.ErrCodeStreamClosed, "a reused stream identifier"}
	}
	if c.idle {
		if c.idle = false; !c.SetServing() {
			return nil, errEvicted
		}
	}
	c.last = id
	switch {
	case malformed:
		return nil, c.resetID(id, http2.ErrCodeProtocol)
	case len(c.streams) >= c.server.config.MaxConcurrentStreams:
		return nil, c.resetID(id, http2.ErrCodeRefusedStream)
	}
	// Handlers of reset streams may run for a moment. This limits their number to that of streams.
	for c.handlers >= c.server.config.MaxConcurrentStreams && c.err == nil {
		c.flushLater()
		c.wait(&c.progress, time.Time{})
	}
	return takeStream(c, id), c.err
}

// trailer handles the trailer of a request: RFC 9113 section 8.1. c.mu is held.
func (c *connection) trailer(s *stream, ends bool) error {
	b := &c.block
	switch {
	case s.body.ended:
		return c.resetID(s.id, http2.ErrCodeStreamClosed)
	case !ends, b.malformed, b.tooLarge, len(b.fields) > 0 && b.fields[0].IsPseudo(), s.body.left > 0:
		return c.resetID(s.id, http2.ErrCodeProtocol)
	}
	for _, f := range b.fields {
		if isTrailer(f.Name) {
			s.body.trailer.Add(f.Name, f.Value)
		}
	}
	s.requested()
	s.changed.Broadcast()
	return nil
}

// parse sets the request from its fields. It returns the reason of a rejection, "" for none, and false for a
// stream error: RFC 9113 sections 8.2 and 8.3.
func (s *stream) parse(fields []hpack.HeaderField, ends bool) (refusal string, ok bool) {
	r := &s.incoming
	fields, ok = s.takePseudo(fields)
	if !ok {
		return "", false
	}
	if refusal = s.addFields(fields); refusal == "" {
		refusal = s.check()
	}
	if length := r.Fields.Values("content-length"); len(length) > 0 && refusal == "" {
		n, err := strconv.ParseUint(length[0], 10, 63)
		if err != nil || len(length) > 1 || ends && n > 0 {
			return "Content-Length does not match the content", true
		}
		s.body.left = int64(n)
	}
	if s.tunnels() {
		s.body.left = -1
	}
	if !ends && r.Protocol == "" {
		r.Body, r.ContentLength = (*requestBody)(s), s.body.left
	}
	return refusal, true
}

// takePseudo parses the pseudo-header fields, and reports whether they are those that a request needs, each
// once: RFC 9113 sections 8.3.1 and 8.5, RFC 8441 section 4. It returns the remaining fields.
func (s *stream) takePseudo(fields []hpack.HeaderField) (rest []hpack.HeaderField, ok bool) {
	r := &s.incoming
	seen := 0
	for ; len(fields) > 0 && fields[0].IsPseudo(); fields = fields[1:] {
		to, bit := s.pseudo(fields[0].Name)
		if to == nil || seen&bit != 0 {
			return nil, false
		}
		*to = fields[0].Value
		seen |= bit
	}
	switch {
	case seen&pseudoProtocol != 0:
		if r.Method != http.MethodConnect || r.Protocol == "" {
			return nil, false
		}
		r.Method = http.MethodGet // the equivalent of HTTP/1.1: RFC 8441 section 5
	case r.Method == http.MethodConnect:
		r.Target = r.Host
		return fields, seen == pseudoMethod|pseudoAuthority && r.Host != ""
	}
	return fields, r.Method != "" && r.Target != "" && (r.Scheme == "https" || r.Scheme == "http")
}

// The pseudo-header fields of requests.
const (
	pseudoMethod = 1 << iota
	pseudoScheme
	pseudoAuthority
	pseudoPath
	pseudoProtocol
)

// pseudo returns the destination of a pseudo-header field, and its bit; nil for an unknown one.
func (s *stream) pseudo(name string) (to *string, bit int) {
	r := &s.incoming
	switch {
	case name == ":method":
		return &r.Method, pseudoMethod
	case name == ":scheme":
		return &r.Scheme, pseudoScheme
	case name == ":authority":
		return &r.Host, pseudoAuthority
	case name == ":path":
		return &r.Target, pseudoPath
	case name == ":protocol" && s.c.server.config.ExtendedConnect:
		return &r.Protocol, pseudoProtocol
	default:
		return nil, 0
	}
}

// addFields adds the regular fields, and returns the reason of a rejection.
func (s *stream) addFields(fields []hpack.HeaderField) (refusal string) {
	r := &s.incoming
	hosted, cookie := false, -1
	var crumbs []string // further parts of a cookie
	for _, f := range fields {
		switch f.Name {
		case "host":
			if r.Host == "" {
				r.Host = f.Value
			}
			if hosted || !strings.EqualFold(f.Value, r.Host) {
				return "Host does not match :authority" // RFC 9113 section 8.3.1
			}
			hosted = true
			continue
		case "cookie":
			if cookie >= 0 {
				crumbs = append(crumbs, f.Value)
				continue
			}
			cookie = len(r.Fields)
		case "trailer":
			s.announce(f.Value)
			continue
		case "expect":
			s.body.expects = strings.EqualFold(f.Value, "100-continue")
		default:
			if connectionField(f.Name) || f.Name == "te" && f.Value != "trailers" {
				return "a connection-specific field: " + f.Name // RFC 9113 section 8.2.2
			}
		}
		r.Fields.Add(f.Name, f.Value)
	}
	if len(crumbs) > 0 { // RFC 9113 section 8.2.3
		r.Fields[cookie].Value += "; " + strings.Join(crumbs, "; ")
	}
	return ""
}

// announce adds the announced names of trailer fields.
func (s *stream) announce(list string) {
	r := &s.incoming
	if s.body.ended {
		return
	}
	if r.Trailer == nil {
		r.Trailer = &httpmessage.Trailer{}
	}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && isTrailer(name) {
			r.Trailer.Names = append(r.Trailer.Names, name)
		}
	}
}

// isTrailer reports whether a field is allowed in a trailer: RFC 9110 section 6.5.1.
func isTrailer(name string) bool {
	return httpguts.ValidTrailerHeader(httpmessage.Field{Name: name}.Canonical()) && !connectionField(name)
}

// tunnels reports whether the stream becomes a tunnel after a 2xx response: RFC 9113 section 8.5, RFC 8441 section 5.
func (s *stream) tunnels() bool {
	return s.incoming.Method == http.MethodConnect || s.incoming.Protocol != ""
}

// check returns the reason to reject a request with well-formed fields, "" for none.
func (s *stream) check() (refusal string) {
	r := &s.incoming
	connect := r.Method == http.MethodConnect
	switch {
	case !httpguts.ValidHeaderFieldName(r.Method):
		return "the method is not a token"
	case !connect && !strings.HasPrefix(r.Target, "/") && (r.Target != "*" || r.Method != http.MethodOptions):
		return "the :path of HTTP/2 begins with a slash"
	case strings.ContainsFunc(r.Target, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return "the :path has a space or a control character"
	case !httpguts.ValidHostHeader(r.Host):
		return "the :authority is not a host"
	default:
		return ""
	}
}
