package forward_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
)

// serving serves one request as it came, and returns the response as it is sent.
func (w *web) serving(t *testing.T, request string) (response *http.Response, text string) {
	t.Helper()
	c, in := served(t, func(client forward.ResponseWriter, r *http.Request) {
		if _, err := w.Serve(r.Context(), client, of(t, r, "http://a.example/")); err != nil {
			http.Error(client, err.Error(), problem.Status(err))
		}
	})
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	for {
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusContinue {
			text += "100 "
			continue
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, text + string(body)
	}
}

// RFC 9112 section 6: a body reaches the origin with its length, or without one, and with its trailers (RFC 9110 section 6.5);
// RFC 9110 section 10.1.1: who waits is told to go on when the origin asks for the body, and by an early answer not to.
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
		request string
		answer  func(scheme.Request) (*scheme.Resource, error)
		length  int64
		status  int
		text    string
		closes  bool
	}{
		"none":     {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", reading, 0, 200, "no body", false},
		"a length": {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody", reading, 4, 200, "body", false},
		"chunks":   {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", reading, -1, 200, "body", false},
		"trailers": {
			"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n4\r\nbody\r\n0\r\nX-End: 1\r\n\r\n", reading,
			-1, 200, "body X-End=1", false,
		},
		"who waits":      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody", reading, 4, 200, "100 body", false},
		"an early no":    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n", answering, 4, 413, "too much", true},
		"not read":       {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody", answering, 4, 413, "too much", true},
		"that is broken": {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", reading, -1, 500, "invalid byte in chunk length\n", true},
	} {
		w.answer = tt.answer
		response, text := w.serving(t, tt.request)
		sent, _ := w.last()
		if response.StatusCode != tt.status || text != tt.text || sent.ContentLength != tt.length || response.Close != tt.closes {
			t.Errorf("%s: %d %q, closes %t; the origin gets a length of %d", name, response.StatusCode, text, response.Close, sent.ContentLength)
		}
	}
}

// late is a body that does not come in time.
type late struct{ closed bool }

// Read implements io.Reader.
func (*late) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// Close implements io.Closer.
func (l *late) Close() error {
	l.closed = true
	return nil
}

// A client whose body does not come is who took too long, whatever the handler makes of it: RFC 9110 section 15.5.9. By HTTP/2
// each part of it has a deadline of its own.
func TestLateBody(t *testing.T) {
	w := newWeb(t, nil, func(c *forward.Config) {
		c.Now = func() time.Time { return time.Unix(1000, 0) }
	})
	for name, fault := range map[string]func(error) error{
		"as it is": func(err error) error { return err },
		"wrapped":  func(err error) error { return errors.Join(scheme.ErrBody, err) },
		"lost":     func(error) error { return errRefused },
	} {
		w.answer = func(r scheme.Request) (*scheme.Resource, error) {
			_, err := io.ReadAll(r.Body)
			if closer, ok := r.Body.(io.Closer); ok {
				_ = closer.Close()
			}
			return nil, fault(err)
		}
		for _, major := range []int{1, 2} {
			r := requested(t, http.MethodPost, "http://a.example/")
			body := new(late)
			r.Body, r.ContentLength, r.Major = body, 4, major
			client := &deadlines{recorder: newRecorder()}
			_, err := w.Serve(t.Context(), client, r)
			if !errors.Is(err, problem.ErrBodyTimeout) {
				t.Errorf("%s by HTTP/%d: %v", name, major, err)
			}
			want := []time.Time{time.Unix(1060, 0), {}} // from when it is read, and no longer
			if major == 1 {
				want = []time.Time{time.Unix(1, 0), {}} // a read that waits ends, and the listener reads on
			}
			if len(client.at) != len(want) || !client.at[0].Equal(want[0]) || !client.at[1].Equal(want[1]) || body.closed != (major == 2) {
				t.Errorf("%s by HTTP/%d: %v, closed %t", name, major, client.at, body.closed)
			}
		}
	}
}

// deadlines is a recorder that keeps the deadlines for the body of the request.
type deadlines struct {
	*recorder
	at []time.Time
}

// SetReadDeadline is for http.ResponseController.
func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.at = append(d.at, at)
	return nil
}

// RFC 9110 section 6.5.1: trailers of an origin are passed on behind a body without a length: those that are known as announced,
// others as well.
func TestTrailersOfOrigins(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answer = func(scheme.Request) (*scheme.Resource, error) {
		resource := respond(200, "body")
		trailer := &httpmessage.Trailer{Names: []string{"X-Known"}}
		resource.ContentLength, resource.Trailer = -1, trailer
		resource.Body = httpmessage.AtEnd(resource.Body, func() { trailer.Fields = httpmessage.FieldsOf("X-Known", "1", "X-Other", "2") })
		return resource, nil
	}
	response, text := w.serving(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if text != "body" || response.Trailer.Get("X-Known") != "1" || response.Trailer.Get("X-Other") != "2" || response.ContentLength != -1 {
		t.Errorf("%q %+v", text, response)
	}
	if response, text = w.serving(t, "GET / HTTP/1.0\r\n\r\n"); text != "body" || len(response.Trailer) > 0 {
		t.Errorf("HTTP/1.0: %q %+v", text, response)
	}
}
