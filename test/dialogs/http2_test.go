//go:build e2e

package dialogs

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// exchange is an HTTP/2 request on its own stream.
type exchange struct {
	fields   []string // "name: value" in order, including pseudo-header fields
	body     string   // "" ends the stream with its head
	trailers []string
	open     bool // the stream is not ended
}

// session is an HTTP/2 connection with its recording.
type session struct {
	net.Conn
	framer  *http2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer
	normal  *normalizer
	streams map[uint32]*stream
	lines   []string // about the connection
	ended   error
	acked   bool
	next    uint32
	head    map[uint32]bool // streams of HEAD requests
}

// stream contains the data received on a stream.
type stream struct {
	lines []string
	head  received
	over  bool
}

func newSession(w *world, n *normalizer) (*session, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: waitLimit}, "tcp", w.secure(),
		&tls.Config{InsecureSkipVerify: true, ServerName: "urnd.example", NextProtos: []string{"h2"}})
	if err != nil {
		return nil, err
	}
	s := &session{
		Conn: conn, framer: http2.NewFramer(conn, conn), normal: n, streams: make(map[uint32]*stream),
		next: 1, head: make(map[uint32]bool),
	}
	s.encoder = hpack.NewEncoder(&s.block)
	s.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.framer.MaxHeaderListSize = 1 << 20
	s.framer.AllowIllegalWrites = true
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	if err := s.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30},
		http2.Setting{ID: http2.SettingEnablePush, Val: 0}); err != nil {
		return nil, err
	}
	return s, s.framer.WriteWindowUpdate(0, 1<<30)
}

// headers encodes fields.
func (s *session) headers(fields []string) []byte {
	s.block.Reset()
	for _, field := range fields {
		colon := strings.Index(field[1:], ":") + 1
		_ = s.encoder.WriteField(hpack.HeaderField{
			Name:  field[:colon],
			Value: strings.TrimPrefix(field[colon+1:], " "),
		})
	}
	return slices.Clone(s.block.Bytes())
}

// send writes a request and returns its stream.
func (s *session) send(e exchange) uint32 {
	id := s.next
	s.next += 2
	s.streams[id] = &stream{}
	s.head[id] = slices.Contains(e.fields, ":method: HEAD")
	bare := e.body == "" && e.trailers == nil
	block := s.headers(e.fields)
	const frame = 16 << 10
	first := block[:min(len(block), frame)]
	_ = s.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: first, EndStream: bare && !e.open,
		EndHeaders: len(first) == len(block),
	})
	for rest := block[len(first):]; len(rest) > 0; {
		part := rest[:min(len(rest), frame)]
		rest = rest[len(part):]
		_ = s.framer.WriteContinuation(id, len(rest) == 0, part)
	}
	if e.body != "" {
		_ = s.framer.WriteData(id, e.trailers == nil && !e.open, []byte(e.body))
	}
	if e.trailers != nil {
		_ = s.framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: id, BlockFragment: s.headers(e.trailers),
			EndStream: true, EndHeaders: true,
		})
	}
	return id
}

// read reads frames until a condition holds or the connection has ended.
func (s *session) read(until func() bool) {
	for s.ended == nil && !until() {
		_ = s.SetReadDeadline(time.Now().Add(waitLimit))
		frame, err := s.framer.ReadFrame()
		if err != nil {
			var onStream http2.StreamError
			if errors.As(err, &onStream) {
				s.lines = append(s.lines, "= the client cannot read a head: "+err.Error())
				s.streams[onStream.StreamID].over = true
				continue
			}
			s.ended = err
			return
		}
		s.take(frame)
	}
}

func (s *session) take(frame http2.Frame) {
	at := s.streams[frame.Header().StreamID]
	if at == nil {
		at = &stream{}
	}
	switch f := frame.(type) {
	case *http2.MetaHeadersFrame:
		s.takeHead(at, f)
	case *http2.DataFrame:
		at.head.body = append(at.head.body, f.Data()...)
	case *http2.RSTStreamFrame:
		s.finish(at)
		at.lines = append(at.lines, "< RST_STREAM "+f.ErrCode.String())
		at.over = true
	case *http2.GoAwayFrame:
		s.lines = append(s.lines,
			fmt.Sprintf("< GOAWAY %s, last stream %d, %q", f.ErrCode, f.LastStreamID, f.DebugData()))
	case *http2.PingFrame:
		s.acked = s.acked || f.IsAck()
	case *http2.SettingsFrame:
		if f.IsAck() {
			return
		}
		line := "< SETTINGS"
		_ = f.ForeachSetting(func(setting http2.Setting) error {
			line += " " + setting.String()
			return nil
		})
		s.lines = append(s.lines, line)
		_ = s.framer.WriteSettingsAck()
		return
	}
	if frame.Header().Flags.Has(http2.FlagDataEndStream) &&
		(frame.Header().Type == http2.FrameData || frame.Header().Type == http2.FrameHeaders) {
		s.finish(at)
		at.over = true
	}
}

// takeHead records a header section: of an interim or final response, or a trailer section.
func (s *session) takeHead(at *stream, f *http2.MetaHeadersFrame) {
	var text strings.Builder
	status := f.PseudoValue("status")
	if status != "" {
		text.WriteString("HTTP/2 " + status + "\r\n")
	}
	// Sorted by name, because the order depends on the code that responds, the cache or net/http, and thus on
	// timing.
	fields := slices.Clone(f.Fields)
	slices.SortStableFunc(fields, func(a, b hpack.HeaderField) int { return strings.Compare(a.Name, b.Name) })
	for _, field := range fields {
		if !field.IsPseudo() {
			text.WriteString(field.Name + ": " + field.Value + "\r\n")
		}
	}
	switch {
	case status == "":
		at.head.trailers = text.String()
	case strings.HasPrefix(status, "1"):
		for line := range strings.Lines(s.normal.head(text.String())) {
			at.lines = append(at.lines, "< "+escape(strings.TrimRight(line, "\r\n")))
		}
	default:
		at.head.head = text.String() + "\r\n"
		at.head.status, _ = strconv.Atoi(status)
		at.head.framing = "stream"
	}
}

// finish writes the response of a stream.
func (s *session) finish(at *stream) {
	if at.head.head == "" || at.over {
		return
	}
	at.lines = append(at.lines, at.head.render(s.normal)...)
}

// alive checks by a PING whether the connection persists.
func (s *session) alive() {
	if s.ended == nil {
		_ = s.framer.WritePing(false, [8]byte{1})
		s.read(func() bool { return s.acked })
	}
	if s.acked {
		s.lines = append(s.lines, "= kept alive")
	} else {
		s.lines = append(s.lines, "= "+fateOf(s.ended))
	}
}

// finished reports whether all streams have ended.
func (s *session) finished() bool {
	for _, at := range s.streams {
		if !at.over {
			return false
		}
	}
	return true
}

// exchanges is a dialog of HTTP/2 requests: each after the previous response, or all in one batch.
func exchanges(name string, atOnce bool, all ...exchange) dialog {
	return dialog{name: name, play: func(w *world, n *normalizer) ([]string, int, error) {
		s, err := newSession(w, n)
		if err != nil {
			return nil, 0, err
		}
		defer s.Close()
		var lines []string
		var ids []uint32
		for i, e := range all {
			ids = append(ids, s.send(e))
			if i > 0 && fmt.Sprint(e) == fmt.Sprint(all[i-1]) {
				lines = append(lines, "> [the same again]")
			} else {
				lines = append(lines, sentExchange(e)...)
			}
			if !atOnce && !e.open {
				s.read(s.finished)
				lines = append(lines, s.streams[ids[i]].lines...)
			}
		}
		if atOnce {
			s.read(s.finished)
			for _, id := range ids {
				lines = append(lines, s.streams[id].lines...)
			}
		}
		s.alive()
		return append(lines, s.about(name)...), len(ids), nil
	}}
}

// about returns the lines about the connection: SETTINGS are only in the first dialog.
func (s *session) about(name string) []string {
	return slices.DeleteFunc(s.lines,
		func(line string) bool { return strings.HasPrefix(line, "< SETTINGS") && name != "settings" })
}

func sentExchange(e exchange) []string {
	var lines []string
	for _, field := range e.fields {
		lines = append(lines, "> "+escape(field))
	}
	if e.body != "" {
		lines = append(lines, fmt.Sprintf("> [DATA of %d bytes] %s", len(e.body),
			escape(e.body[:min(len(e.body), 100)])))
	}
	for _, field := range e.trailers {
		lines = append(lines, "> (trailer) "+escape(field))
	}
	if e.open {
		lines = append(lines, "> [not ended]")
	}
	return lines
}

// frames is a dialog of frames that HTTP clients do not send.
func frames(name string, write func(*session)) dialog {
	return dialog{name: name, play: func(w *world, n *normalizer) ([]string, int, error) {
		s, err := newSession(w, n)
		if err != nil {
			return nil, 0, err
		}
		defer s.Close()
		write(s)
		s.read(s.finished)
		s.alive()
		lines := []string{"> [frames]"}
		for _, id := range slices.Sorted(keysOf(s.streams)) {
			lines = append(lines, s.streams[id].lines...)
		}
		return append(lines, s.about(name)...), len(s.streams), nil
	}}
}
