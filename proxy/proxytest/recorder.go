package proxytest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Recorder is a ResponseWriter that records a response. It does no framing, so that tests do not depend on a
// protocol. The zero value is ready to use, for a client with an unlimited window.
type Recorder struct {
	Status  int // 0 before WriteHeader
	Reason  string
	Fields  httpmessage.Fields
	Body    bytes.Buffer
	Trailer httpmessage.Fields
	// Interim are the interim responses.
	Interim []Interim
	Flushes int
	// Aborted is true after Abort, and EndedEarly after Truncate with EndsEarly.
	Aborted, EndedEarly bool

	// Client is the result of Context, nil for a context that never ends.
	Client context.Context //nolint:containedctx // it is that of a client
	// Ended is the result of HalfClosed.
	Ended context.Context //nolint:containedctx // it is that of a client
	// Window is the result of Available in bytes, 0 for an unlimited window.
	Window int64
	// EndsEarly is the result of Truncate.
	EndsEarly bool
	// Err is the error of all writes, as to a disconnected client; nil for none.
	Err error
	// Late is the result of BodyTimedOut.
	Late bool
	// ReadDeadline is the last deadline that was set.
	ReadDeadline time.Time
	// Conn is the connection that Hijack returns, nil if it cannot be taken over; Read is the data that was
	// read from it.
	Conn net.Conn
	Read []byte
	// Session is the result of Attach. The first call creates it unless Shared is set.
	Session io.Closer
	Shared  bool // the connection may carry requests of several clients

	mu sync.Mutex // guards interim responses
}

// Interim is an interim response: RFC 9110 section 15.2.
type Interim struct {
	Status int
	Fields httpmessage.Fields
}

// Lines returns the header fields of the response as "Name: value", sorted.
func (r *Recorder) Lines() []string {
	lines := make([]string, 0, len(r.Fields))
	for _, f := range r.Fields {
		lines = append(lines, f.Name+": "+f.Value)
	}
	slices.Sort(lines)
	return lines
}

// Result returns the response for net/http.
func (r *Recorder) Result() *http.Response {
	return &http.Response{
		StatusCode: r.Status, Header: r.Fields.Header(), Body: io.NopCloser(bytes.NewReader(r.Body.Bytes())),
		ContentLength: int64(r.Body.Len()), ProtoMajor: 1, ProtoMinor: 1, Trailer: r.Trailer.Header(),
	}
}

// Context implements httpmessage.ResponseWriter.
func (r *Recorder) Context() context.Context {
	if r.Client == nil {
		return context.Background()
	}
	return r.Client
}

// HalfClosed implements httpmessage.ResponseWriter.
func (r *Recorder) HalfClosed() context.Context { return r.Ended }

// Available implements httpmessage.ResponseWriter.
func (r *Recorder) Available() int64 { return cmp.Or(r.Window, math.MaxInt64) }

// WriteInterim implements httpmessage.ResponseWriter.
func (r *Recorder) WriteInterim(status int, fields httpmessage.Fields) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Status == 0 {
		r.Interim = append(r.Interim, Interim{status, copyOf(fields)})
	}
}

// WriteHeader implements httpmessage.ResponseWriter.
func (r *Recorder) WriteHeader(status int, reason string, fields httpmessage.Fields) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Status == 0 {
		r.Status, r.Reason, r.Fields = status, strings.Clone(reason), copyOf(fields)
	}
}

// copyOf returns a deep copy of fields: the caller may reuse the strings of a response when WriteHeader has
// returned.
func copyOf(fields httpmessage.Fields) httpmessage.Fields {
	persistent := make(httpmessage.Fields, 0, len(fields))
	for _, f := range fields {
		persistent.Add(strings.Clone(f.Name), strings.Clone(f.Value))
	}
	return persistent
}

func (r *Recorder) begin() error {
	r.WriteHeader(200, "", nil)
	return r.Err
}

// Write implements io.Writer.
func (r *Recorder) Write(p []byte) (int, error) {
	if err := r.begin(); err != nil {
		return 0, err
	}
	return r.Body.Write(p)
}

// ReadFrom implements io.ReaderFrom.
func (r *Recorder) ReadFrom(from io.Reader) (int64, error) {
	if err := r.begin(); err != nil {
		return 0, err
	}
	return r.Body.ReadFrom(from)
}

// WriteBuffers implements httpmessage.ResponseWriter.
func (r *Recorder) WriteBuffers(buffers [][]byte) (int64, error) {
	written := int64(0)
	for _, b := range buffers {
		n, err := r.Write(b)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, r.begin()
}

// Flush implements httpmessage.ResponseWriter.
func (r *Recorder) Flush() error {
	r.Flushes++
	return r.begin()
}

// SetTrailer implements httpmessage.ResponseWriter.
func (r *Recorder) SetTrailer(fields httpmessage.Fields) { r.Trailer = copyOf(fields) }

// Abort implements httpmessage.ResponseWriter.
func (r *Recorder) Abort() { r.Aborted = true }

// Truncate implements httpmessage.ResponseWriter.
func (r *Recorder) Truncate() bool {
	r.EndedEarly = r.EndedEarly || r.EndsEarly
	return r.EndsEarly
}

// SetReadDeadline implements httpmessage.ResponseWriter.
func (r *Recorder) SetReadDeadline(t time.Time) error {
	r.ReadDeadline = t
	return nil
}

// BodyTimedOut implements httpmessage.ResponseWriter.
func (r *Recorder) BodyTimedOut() bool { return r.Late }

// Attach implements httpmessage.ResponseWriter.
func (r *Recorder) Attach(newOne func() io.Closer) io.Closer {
	if r.Session == nil && !r.Shared {
		r.Session = newOne()
	}
	return r.Session
}

// Hijack implements httpmessage.ResponseWriter.
func (r *Recorder) Hijack() (conn net.Conn, read []byte, err error) {
	if r.Conn == nil {
		return nil, nil, errors.New("the connection cannot be hijacked")
	}
	return r.Conn, r.Read, nil
}
