package listen

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// bodyPath is a FastPath that serves POST, whose target is the length of the body.
type bodyPath struct {
	during func(ctx context.Context, c *FastConn, body io.Reader) (response string)
}

// AnswerFast implements FastPath.
func (*bodyPath) AnswerFast(*FastConn, []byte) int { return 0 }

// ServePlain implements FastPath.
func (p *bodyPath) ServePlain(c *FastConn, octets []byte) (used int) {
	head, _, isWhole := bytes.Cut(octets, []byte("\r\n\r\n"))
	text, ok := strings.CutPrefix(string(head), "POST /")
	if !isWhole || !ok {
		return 0
	}
	digits, _, _ := strings.Cut(text, " ")
	length, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	used = len(head) + 4
	ctx := c.Begin()
	defer c.End()
	body := c.BeginBody(octets[used:], length)
	response := p.during(ctx, c, body)
	c.EndHandler()
	if !c.Drain() {
		response = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
		c.CloseBehind()
	}
	_, _ = io.WriteString(c.conn, response)
	if c.EndBody(false) {
		c.EndEarly()
	}
	return used + int(min(length, int64(len(octets)-used)))
}

// bodyTimeout is longer than a test waits for what it sends itself.
const bodyTimeout = 200 * time.Millisecond

// serveBodies returns a server whose requests with bodies call a function.
func serveBodies(t *testing.T, during func(context.Context, *FastConn, io.Reader) string) *fastServer {
	t.Helper()
	return serveFast(t, func(_ *fastServer, c *ServerConfig) {
		c.FastPath = &bodyPath{during}
		c.BodyDeadline = func() time.Time { return time.Now().Add(bodyTimeout) }
	})
}

// saying returns a response with a text.
func saying(text string) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text
}

// A body is what its client sends, up to its end, also where the next request comes in the same packet, and its last part much later.
func TestServedBody(t *testing.T) {
	t.Parallel()
	s := serveBodies(t, func(_ context.Context, _ *FastConn, body io.Reader) string {
		octets, err := io.ReadAll(body)
		if n, again := body.Read(make([]byte, 1)); n > 0 || !errors.Is(again, io.EOF) || err != nil {
			return saying("an error")
		}
		return saying(string(octets))
	})
	c := s.dial(t)
	long := strings.Repeat("x", 10_000)
	c.send(t, "POST /3 HTTP/1.1\r\n\r\nabcPOST /0 HTTP/1.1\r\n\r\nPOST /10000 HTTP/1.1\r\n\r\n"+long+"POST /4 HTTP/1.1\r\n\r\nde")
	c.expect(t, "200 abc", "200 ", "200 "+long)
	c.send(t, "f")
	c.send(t, "g"+slowRequest)
	c.expect(t, "200 defg", slowAnswer)
}

// What nobody has read of a body is read before the response, and the next request is behind it.
func TestServedBodyIsDrained(t *testing.T) {
	t.Parallel()
	s := serveBodies(t, func(context.Context, *FastConn, io.Reader) string { return saying("unread") })
	c := s.dial(t)
	c.send(t, "POST /100000 HTTP/1.1\r\n\r\n"+strings.Repeat("x", 100_000)+"POST /1 HTTP/1.1\r\n\r\ny")
	c.expect(t, "200 unread", "200 unread")
	c.send(t, "POST /300000 HTTP/1.1\r\n\r\n"+strings.Repeat("x", 5000))
	c.expect(t, "400", "closed")
}

// A client that is too slow for a part of a body is called late, and its request ends, as does that of one that leaves within it.
func TestServedBodyBreaksOff(t *testing.T) {
	t.Parallel()
	type outcome struct {
		err          error
		isLate, ends bool
	}
	outcomes := make(chan outcome, 1)
	s := serveBodies(t, func(ctx context.Context, c *FastConn, body io.Reader) string {
		_, err := io.Copy(io.Discard, body)
		outcomes <- outcome{err, c.IsLate(), ctx.Err() != nil}
		return saying("broken off")
	})
	slow := s.dial(t)
	slow.send(t, "POST /5 HTTP/1.1\r\n\r\nhe")
	if got := <-outcomes; !isTimeout(got.err) || !got.isLate || !got.ends {
		t.Errorf("a slow client: %+v", got)
	}
	ending := s.dial(t)
	ending.send(t, "POST /5 HTTP/1.1\r\n\r\nhe")
	if tcp, ok := ending.Conn.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
		t.Fatal("it is not closed")
	}
	if got := <-outcomes; !errors.Is(got.err, io.ErrUnexpectedEOF) || got.isLate || !got.ends {
		t.Errorf("a client that ends its side: %+v", got)
	}
	leaving := s.dial(t)
	leaving.send(t, "POST /5 HTTP/1.1\r\n\r\nhe")
	tcp, _ := leaving.Conn.(*net.TCPConn)
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
	if got := <-outcomes; got.err == nil || got.isLate || !got.ends {
		t.Errorf("a client that leaves: %+v", got)
	}
}

// A read that waits ends when its reader wants no more, and the connection with the response.
func TestServedBodyIsCut(t *testing.T) {
	t.Parallel()
	s := serveFast(t, func(_ *fastServer, c *ServerConfig) {
		c.FastPath = &bodyPath{func(_ context.Context, c *FastConn, body io.Reader) string {
			over := make(chan error, 1)
			go func() {
				_, err := io.Copy(io.Discard, body)
				over <- err
			}()
			testserver.Wait(t, "the read ends", func() bool {
				_ = c.SetReadDeadline(time.Unix(1, 0))
				return len(over) > 0
			})
			if err := <-over; !isTimeout(err) || c.IsLate() {
				t.Errorf("it has ended with %v, late %v", err, c.IsLate())
			}
			return ""
		}}
	})
	c := s.dial(t)
	c.send(t, "POST /300000 HTTP/1.1\r\n\r\nhe")
	c.expect(t, "400", "closed")
}
