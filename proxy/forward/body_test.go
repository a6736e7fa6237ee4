package forward_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
)

// RFC 9112 section 6: a body reaches the origin with its length, or without one, and with its trailers (RFC
// 9110 section 6.5). By HTTP/1 an early response closes the connection (RFC 9112 section 9.6).
func TestBodies(t *testing.T) {
	w := newWeb(t, nil, nil)
	reading := func(r scheme.Request) (*scheme.Resource, error) {
		if r.Body == nil {
			return respond(200, "no body"), nil
		}
		body, err := io.ReadAll(r.Body)
		text := string(body)
		if r.Trailer != nil {
			text += " " + strings.Join(r.Trailer.Names, ",") + "=" + r.Trailer.Fields.List("X-End")
		}
		return respond(200, text), err
	}
	answering := func(scheme.Request) (*scheme.Resource, error) { return respond(413, "too much"), nil }
	for name, tt := range map[string]struct {
		body    io.Reader
		length  int64
		trailer string // X-End, "" for none
		major   int
		answer  func(scheme.Request) (*scheme.Resource, error)
		status  int
		text    string
		closes  bool
		err     error
	}{
		"none":               {nil, 0, "", 1, reading, 200, "no body", false, nil},
		"a length":           {strings.NewReader("body"), 4, "", 1, reading, 200, "body", false, nil},
		"no length":          {strings.NewReader("body"), -1, "", 1, reading, 200, "body", false, nil},
		"trailers":           {strings.NewReader("body"), -1, "1", 1, reading, 200, "body X-End=1", false, nil},
		"not read":           {strings.NewReader("body"), 4, "", 1, answering, 413, "too much", true, nil},
		"not read by HTTP/2": {strings.NewReader("body"), 4, "", 2, answering, 413, "too much", false, nil},
		"that is broken":     {broken{}, -1, "", 1, reading, 0, "", true, errBroken},
	} {
		w.answer = tt.answer
		r := requested(t, http.MethodPost, "http://a.example/")
		r.Body, r.ContentLength, r.Major = tt.body, tt.length, tt.major
		if tt.trailer != "" {
			r.Trailer = &httpmessage.Trailer{Names: []string{"X-End"}}
			r.Body = httpmessage.AtEnd(io.NopCloser(tt.body),
				func() { r.Trailer.Fields = httpmessage.NewFields("X-End", tt.trailer) })
		}
		client := w.serve(t, r)
		sent, _ := w.last()
		if !errors.Is(client.err, tt.err) || client.Status != tt.status || client.Body.String() != tt.text ||
			sent.ContentLength != tt.length || client.closes != tt.closes {
			t.Errorf("%s: %+v; the origin gets a length of %d", name, client, sent.ContentLength)
		}
	}
}

// late is a body that times out.
type late struct{}

// Read implements io.Reader.
func (late) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// A body that times out is an error of the client, however the handler wraps it (RFC 9110 section 15.5.9). A
// blocked read is interrupted at the end of the exchange, and the server may read the rest.
func TestLateBody(t *testing.T) {
	w := newWeb(t, nil, nil)
	for name, wrapped := range map[string]func(error) error{
		"as it is": func(err error) error { return err },
		"wrapped":  func(err error) error { return errors.Join(scheme.ErrRequestBody, err) },
		"lost":     func(error) error { return errRefused },
	} {
		w.answer = func(r scheme.Request) (*scheme.Resource, error) {
			_, err := io.ReadAll(r.Body)
			if closer, ok := r.Body.(io.Closer); ok {
				_ = closer.Close()
			}
			return nil, wrapped(err)
		}
		r := requested(t, http.MethodPost, "http://a.example/")
		r.Body, r.ContentLength = late{}, 4
		client := &deadlines{}
		_, err := w.Serve(t.Context(), client, r)
		if !errors.Is(err, problem.ErrBodyTimeout) {
			t.Errorf("%s: %v", name, err)
		}
		if want := []time.Time{time.Unix(1, 0), {}}; len(client.at) != len(want) || !client.at[0].Equal(want[0]) ||
			!client.at[1].Equal(want[1]) {
			t.Errorf("%s: %v", name, client.at)
		}
	}
	// The server may detect it first, if a deadline ends the whole request.
	w.answer = func(scheme.Request) (*scheme.Resource, error) { return nil, errRefused }
	for late, want := range map[bool]error{true: problem.ErrBodyTimeout, false: errRefused} {
		client := new(recorder)
		client.Late = late
		r := requested(t, http.MethodPost, "http://a.example/")
		r.Body, r.ContentLength = strings.NewReader("body"), 4
		if _, err := w.Serve(t.Context(), client, r); !errors.Is(err, want) {
			t.Errorf("late is %t: %v", late, err)
		}
	}
}

// stalling is a body that blocks until its deadline, and detects reads after the end of its request.
type stalling struct {
	recorder
	reading, cut, read chan struct{}
	over               atomic.Bool // the request has ended
	misused            atomic.Bool
}

// SetReadDeadline implements httpmessage.ResponseWriter.
func (w *stalling) SetReadDeadline(at time.Time) error {
	w.misused.Store(w.misused.Load() || w.over.Load())
	if !at.IsZero() {
		close(w.cut)
	}
	return nil
}

// Read implements io.Reader.
func (w *stalling) Read([]byte) (int, error) {
	close(w.reading)
	<-w.cut
	w.misused.Store(w.misused.Load() || w.over.Load())
	return 0, os.ErrDeadlineExceeded
}

// A transport may still read a body after its exchange was canceled: no read continues after the end of the
// request, whose stream and memory are then reused.
func TestBodyIsNotReadBehindItsRequest(t *testing.T) {
	w := newWeb(t, nil, nil)
	var body io.Reader
	client := &stalling{reading: make(chan struct{}), cut: make(chan struct{}), read: make(chan struct{})}
	w.answer = func(r scheme.Request) (*scheme.Resource, error) {
		body = r.Body
		go func() {
			_, _ = r.Body.Read(make([]byte, 1))
			close(client.read)
		}()
		<-client.reading
		return nil, errRefused
	}
	r := requested(t, http.MethodPost, "http://a.example/")
	r.Body, r.ContentLength = client, 4
	_, _ = w.Serve(t.Context(), client, r)
	client.over.Store(true)
	select {
	case <-client.cut:
	default:
		t.Error("a read goes on")
		close(client.cut)
	}
	<-client.read
	if n, err := body.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("%d bytes are read, %v", n, err)
	}
	if closer, ok := body.(io.Closer); !ok || closer.Close() != nil {
		t.Error("it cannot be closed")
	}
	if client.misused.Load() {
		t.Error("the client is used behind its request")
	}
}

// deadlines is a recorder of the read deadlines of the request body.
type deadlines struct {
	recorder
	at []time.Time
}

// SetReadDeadline implements httpmessage.ResponseWriter.
func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.at = append(d.at, at)
	return nil
}

// RFC 9110 section 6.5.1: trailers of an origin are forwarded after a body without a length, announced ones
// and others.
func TestTrailersOfOrigins(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answer = func(scheme.Request) (*scheme.Resource, error) {
		resource := respond(200, "body")
		trailer := &httpmessage.Trailer{Names: []string{"X-Known"}}
		resource.ContentLength, resource.Trailer = -1, trailer
		resource.Body = httpmessage.AtEnd(resource.Body,
			func() { trailer.Fields = httpmessage.NewFields("X-Known", "1", "X-Other", "2") })
		return resource, nil
	}
	for name, tt := range map[string]struct {
		change    func(*forward.Request)
		announced string
	}{
		"HTTP/1.1": {func(*forward.Request) {}, "X-Known"},
		"HTTP/2":   {func(r *forward.Request) { r.Major, r.Minor = 2, 0 }, "X-Known"},
		"HTTP/1.0": {func(r *forward.Request) { r.Minor = 0 }, ""},
	} {
		r := requested(t, http.MethodGet, "http://a.example/")
		tt.change(r)
		client := w.serve(t, r)
		if client.err != nil || client.Body.String() != "body" || client.Fields.Get("Trailer") != tt.announced ||
			client.Fields.Has("Content-Length") ||
			linesOf(client.Trailer, "X-Known", "X-Other") != "X-Known=1 X-Other=2" {
			t.Errorf("%s: %+v", name, client)
		}
	}
}

// RFC 9110 section 6.5.1: recipients may merge trailers into the header. So they have no field that the header must
// not have, announced or not.
func TestTrailersOfRequests(t *testing.T) {
	w := newWeb(t, nil, nil)
	got := ""
	w.answer = func(r scheme.Request) (*scheme.Resource, error) {
		_, err := io.ReadAll(r.Body)
		got = ""
		for _, f := range r.Trailer.Fields {
			got += f.Name + " "
		}
		return respond(200, ""), err
	}
	site := &forward.Site{
		Pool:    pool(t, "http://192.0.2.7"),
		Request: forward.Edits{Remove: []string{"x-removed"}, Set: httpmessage.NewFields("X-Set", "1")},
	}
	for name, tt := range map[string]struct {
		site    *forward.Site
		trusted bool
		want    string
	}{
		"an origin":        {nil, false, "X-End X_End X-Set X-Removed "},
		"by a front proxy": {nil, true, "X-End X_End X-Set X-Removed "},
		"a site":           {site, false, "X-End "},
	} {
		r := requested(t, http.MethodPost, "http://a.example/")
		r.Site, r.Trusted, r.ContentLength = tt.site, tt.trusted, -1
		r.Trailer = &httpmessage.Trailer{Names: []string{"X-End"}}
		r.Body = httpmessage.AtEnd(io.NopCloser(strings.NewReader("body")), func() {
			for _, name := range []string{
				"X-End", "X_End", "Proxy", "X-Forwarded-Proto", "X_Forwarded_Host", "X-Forwarded-For", "Forwarded",
				"X-Set", "X-Removed",
			} {
				r.Trailer.Fields.Add(name, "1")
			}
		})
		if client := w.serve(t, r); client.err != nil || got != tt.want {
			t.Errorf("%s: %q, want %q, %v", name, got, tt.want, client.err)
		}
	}
}
