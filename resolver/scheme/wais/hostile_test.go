package wais_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/wais"
)

// scripted starts a server that answers each request with the next of some responses, and then is silent until
// the client disconnects. With endless the last response is repeated.
func scripted(t *testing.T, endless bool, responses ...string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 64<<10)
			for i := 0; ; i++ {
				if _, err := conn.Read(buffer); err != nil {
					break
				}
				for err == nil && i < len(responses) {
					if _, err = io.WriteString(conn, responses[i]); !endless {
						break
					}
				}
			}
			conn.Close()
		}
	}()
	return "wais://" + listener.Addr().String()
}

// TestHostile has servers that do not speak Z39.50, or violate it. Each causes a specific error, and none makes
// the client block, or allocate more than it was sent.
func TestHostile(t *testing.T) {
	const (
		// InitializeResponse: version, options, and whether the session is accepted.
		begin   = "\xb5\x0b\x83\x02\x05\xe0\x84\x02\x06\xc0\x8c\x01\xff"
		refused = "\xb5\x0b\x83\x02\x05\xe0\x84\x02\x06\xc0\x8c\x01\x00"
		// Close, with a reason.
		closed = "\xbf\x30\x05\x9f\x81\x53\x01\x03"
		// SearchResponse: the number of records, and whether the search succeeded.
		found    = "\xb7\x06\x97\x01\x03\x96\x01\xff"
		negative = "\xb7\x06\x97\x01\xfd\x96\x01\xff"
		failed   = "\xb7\x06\x97\x01\x00\x96\x01\x00"
		// PresentResponse with an empty list of records, in indefinite lengths.
		present = "\xb9\x80\x98\x01\x01\x99\x01\x00\x9b\x01\x00\xbc\x80\x00\x00\x00\x00"
	)
	deep := func(n int) string { return strings.Repeat("\x30\x80", n) + strings.Repeat("\x00\x00", n) }
	for _, c := range []struct {
		name    string
		endless bool
		answers []string
		want    error
		status  int
	}{
		{"another protocol", false, []string{"HTTP/1.1 400 Bad Request\r\n\r\n"}, scheme.ErrInvalidResponse, 0},
		{"freeWAIS", false, []string{"0000000000z2wais      0"}, scheme.ErrInvalidResponse, 0},
		{"a length of 2 GiB", false, []string{"\xb5\x84\x7f\xff\xff\xff\x02"}, scheme.ErrInvalidResponse, 0},
		{
			"a length of 64 bits", false,
			[]string{"\xb5\x88\x7f\xff\xff\xff\xff\xff\xff\xff"},
			scheme.ErrInvalidResponse, 0,
		},
		{"a tag of 64 bits", false, []string{"\xbf\xff\xff\xff\xff\xff\xff\xff\x7f\x00"}, scheme.ErrInvalidResponse, 0},
		{"nested too deep", false, []string{begin, "\xb7\x80" + deep(5000) + "\x00\x00"}, scheme.ErrInvalidResponse, 0},
		{"nested without end", true, []string{"\xb5\x80"}, scheme.ErrInvalidResponse, 0},
		{"endless", true, []string{"\xb5\x80" + strings.Repeat("\x30\x00", 1<<10)}, scheme.ErrInvalidResponse, 0},
		{"another response", false, []string{begin, begin}, scheme.ErrInvalidResponse, 0},
		{"refused", false, []string{refused}, nil, http.StatusForbidden},
		{"closed", false, []string{begin, closed}, resolver.ErrUnreachable, 0},
		{"failed without reason", false, []string{begin, failed}, nil, http.StatusBadGateway},
		{"a negative number of records", false, []string{begin, negative}, scheme.ErrInvalidResponse, 0},
		{"no records of three", false, []string{begin, found, present}, scheme.ErrInvalidResponse, 0},
		{"another response than records", false, []string{begin, found, found}, scheme.ErrInvalidResponse, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := scripted(t, c.endless, c.answers...)
			_, err := newHandler().Fetch(t.Context(), request(t, base+"/d?words"))
			var refused *scheme.StatusError
			switch {
			case c.want != nil && !errors.Is(err, c.want):
				t.Errorf("got %v, want %v", err, c.want)
			case c.status != 0 && (!errors.As(err, &refused) || refused.Status != c.status):
				t.Errorf("got %v, want a refusal with %d", err, c.status)
			}
		})
	}
}

// TestSilence has a silent server: the timeout applies, and cancellation of the request.
func TestSilence(t *testing.T) {
	base := scripted(t, false)
	limits := testLimits()
	limits.Timeout = 10 * time.Millisecond
	h := wais.New(wais.Config{Dial: testDial, Limits: limits, Records: 1})
	if _, err := h.Fetch(t.Context(), request(t, base+"/d")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	testserver.Within(t, "Fetch", func() {
		time.AfterFunc(time.Millisecond, cancel)
		if _, err := newHandler().Fetch(ctx, request(t, base+"/d")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
