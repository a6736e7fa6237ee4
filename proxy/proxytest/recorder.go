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

// Recorder is a ResponseWriter that records a response. It frames nothing: what a protocol does with a response is not seen by it. The
// zero value is ready, of a client whose window is unbounded.
type Recorder struct {
	Status  int // 0 before WriteHeader
	Reason  string
	Fields  httpmessage.Fields
	Body    bytes.Buffer
	Trailer httpmessage.Fields
	// Interim are the interim responses.
	Interim []Interim
	Flushes int
	// Aborted is whether the response was ended in its middle; EndedEarly whether by EndEarly.
	Aborted, EndedEarly bool

	// Client is what Context returns, nil for one that does not end.
	Client context.Context //nolint:containedctx // it is that of a client
	// Ended is what HalfClosed returns.
	Ended context.Context //nolint:containedctx // it is that of a client
	// Window is what Room returns, 0 for any number of bytes.
	Window int64
	// EndsEarly is whether EndEarly ends the response.
	EndsEarly bool
	// Err is the error of all that is written, as to a client that has left; nil for none.
	Err error
	// Late is what BodyLate returns.
	Late bool
	// ReadDeadline is the last one that was set.
	ReadDeadline time.Time
	// Conn is what TakeOver gives away, nil for a connection that cannot be taken over; Read is what was read of it.
	Conn net.Conn
	Read []byte
	// Session is what Attach returns, which is made by the first call unless Shared is set.
	Session io.Closer
	Shared  bool // requests of several clients may come by the connection

	mu sync.Mutex // of interim responses
}

// Interim is an interim response: RFC 9110 section 15.2.
type Interim struct {
	Status int
	Fields httpmessage.Fields
}

// Lines returns the fields of the response as "Name: value", sorted.
func (r *Recorder) Lines() []string {
	lines := make([]string, 0, len(r.Fields))
	for _, f := range r.Fields {
		lines = append(lines, f.Name+": "+f.Value)
	}
	slices.Sort(lines)
	return lines
}

// Result returns the response as net/http has it.
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

// Room implements httpmessage.ResponseWriter.
func (r *Recorder) Room() int64 { return cmp.Or(r.Window, math.MaxInt64) }

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

// copyOf returns fields with texts of their own: those of a response are not used when WriteHeader returns.
func copyOf(fields httpmessage.Fields) httpmessage.Fields {
	lasting := make(httpmessage.Fields, 0, len(fields))
	for _, f := range fields {
		lasting.Add(strings.Clone(f.Name), strings.Clone(f.Value))
	}
	return lasting
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

// EndEarly implements httpmessage.ResponseWriter.
func (r *Recorder) EndEarly() bool {
	r.EndedEarly = r.EndedEarly || r.EndsEarly
	return r.EndsEarly
}

// SetReadDeadline implements httpmessage.ResponseWriter.
func (r *Recorder) SetReadDeadline(t time.Time) error {
	r.ReadDeadline = t
	return nil
}

// BodyLate implements httpmessage.ResponseWriter.
func (r *Recorder) BodyLate() bool { return r.Late }

// Attach implements httpmessage.ResponseWriter.
func (r *Recorder) Attach(newOne func() io.Closer) io.Closer {
	if r.Session == nil && !r.Shared {
		r.Session = newOne()
	}
	return r.Session
}

// TakeOver implements httpmessage.ResponseWriter.
func (r *Recorder) TakeOver() (conn net.Conn, read []byte, err error) {
	if r.Conn == nil {
		return nil, nil, errors.New("the connection cannot be taken over")
	}
	return r.Conn, r.Read, nil
}
