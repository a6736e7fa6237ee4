package adversary

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// clientH2 is an HTTP/2 client with one request at a time.
type clientH2 struct {
	client2
	stream uint32 // ID of the last request's stream
}

// newClientH2 opens unlimited windows, or a stream window of the size of buffer.
func newClientH2(conn *tls.Conn, buffer int) (client, error) {
	window := uint32(1 << 30)
	if buffer > 0 {
		window = uint32(buffer)
	}
	c := &clientH2{client2: client2{http2.NewFramer(conn, conn), conn}}
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err := io.WriteString(conn, http2.ClientPreface)
	err = errors.Join(
		err, c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}),
		c.WriteWindowUpdate(0, 1<<30),
	)
	return c, err
}

func (c *clientH2) Close() error { return c.conn.Close() }

func (c *clientH2) send(r sending) error {
	c.stream += 2
	if c.stream == 2 {
		c.stream = 1
	}
	fields := []string{":method: " + r.method, ":scheme: https", ":path: " + r.path, ":authority: " + r.host}
	for _, field := range r.fields {
		name, value, _ := strings.Cut(field, ":")
		fields = append(fields, strings.ToLower(name)+":"+value)
	}
	const frame = 16 << 10 // RFC 9113 section 4.2
	block := header(fields...)
	first := block[:min(frame, len(block))]
	err := c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.stream, BlockFragment: first, EndStream: r.body == "", EndHeaders: len(first) == len(block),
	})
	for block = block[len(first):]; len(block) > 0 && err == nil; {
		part := block[:min(frame, len(block))]
		block = block[len(part):]
		err = c.WriteContinuation(c.stream, len(block) == 0, part)
	}
	if r.body != "" && err == nil {
		err = c.WriteData(c.stream, true, []byte(r.body))
	}
	return err
}

// receive reads frames until the end of the last request's stream, and ignores other streams.
func (c *clientH2) receive(_ sending, most int64) (got received) {
	var body bytes.Buffer
	defer func() { got.body = body.String() }()
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			got.failure = err
			return got
		}
		if stream := frame.Header().StreamID; stream != 0 && stream != c.stream {
			continue
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = c.WriteSettingsAck()
			}
			continue
		case *http2.MetaHeadersFrame:
			if got.status < 200 {
				got.status, got.header = headOf(frame)
			}
		case *http2.DataFrame:
			body.Write(frame.Data())
		case *http2.RSTStreamFrame:
			got.failure = fmt.Errorf("the stream is reset: %s", frame.ErrCode)
			return got
		case *http2.GoAwayFrame:
			got.failure = fmt.Errorf("the connection ends: %s", frame.ErrCode)
			return got
		default:
			continue
		}
		if int64(body.Len()) >= most {
			body.Truncate(int(most))
			return got
		}
		if frame.Header().Flags.Has(http2.FlagDataEndStream) && got.status >= 200 {
			return got
		}
	}
}

// headOf returns the status and the fields of a header.
func headOf(frame *http2.MetaHeadersFrame) (int, http.Header) {
	status, _ := strconv.Atoi(frame.PseudoValue("status"))
	fields := make(http.Header)
	for _, field := range frame.RegularFields() {
		fields.Add(field.Name, field.Value)
	}
	return status, fields
}
