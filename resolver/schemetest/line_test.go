package schemetest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/schemetest"
	"github.com/urnd/urnd/uri"
)

// failure selects a bug of the line handler; TestBroken lists them.
type failure string

// line is a handler for a protocol like finger. A client sends one line. An empty one lists the names, one per
// line, terminated by a single dot. A name requests a resource, sent in chunks, each after a line with its
// length; a chunk of length 0 is the last.
type line struct {
	dial    scheme.Dial
	limits  scheme.Limits
	failure failure
	count   atomic.Int64
}

// Fetch implements scheme.Handler.
func (h *line) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	check := r.Check
	if h.failure == "unchecked" {
		check = nil
	}
	host, _ := r.URI.Authority()
	dialContext := ctx
	if h.failure == "deaf connect" {
		dialContext = context.WithoutCancel(ctx)
	}
	conn, err := h.connect(dialContext, host, check)
	if err != nil {
		return nil, fmt.Errorf("asking a line server: %w", err)
	}
	readContext, cancel := context.WithTimeout(ctx, h.limits.Timeout)
	if h.failure == "untimed" {
		readContext, cancel = context.WithCancel(ctx)
	}
	if h.failure == "deaf" || h.failure == "deaf body" {
		readContext = context.WithoutCancel(ctx)
	}
	stop := context.AfterFunc(readContext, func() {
		if h.failure == "no timeout" {
			_ = conn.Close()
			return
		}
		_ = conn.SetDeadline(longAgo())
	})
	end := func() {
		stop()
		cancel()
		if h.failure != "open" {
			_ = conn.Close()
		}
	}
	resource, err := h.ask(r, conn, end)
	if err != nil {
		if readContext.Err() != nil && h.failure != "no timeout" {
			err = context.Cause(readContext)
		}
		end()
		return nil, fmt.Errorf("reading the reply of a line server: %w", h.hide(err))
	}
	switch {
	case resource.Listing != nil:
		end()
	default:
		stop()
		if h.failure != "deaf body" {
			stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(longAgo()) })
		}
	}
	return resource, nil
}

func (h *line) hide(err error) error {
	if h.failure == "no timeout" {
		return errors.New(err.Error())
	}
	return err
}

func (h *line) connect(ctx context.Context, host string, check func(netip.AddrPort) error) (net.Conn, error) {
	if h.failure == "own dialer" {
		if check != nil {
			if err := check(netip.MustParseAddrPort(host)); err != nil {
				return nil, err
			}
		}
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", host)
	}
	return h.dial(ctx, "tcp", host, check)
}

func (h *line) ask(r scheme.Request, conn net.Conn, end func()) (*scheme.Resource, error) {
	name, err := url.PathUnescape(strings.TrimPrefix(r.URI.Path(), "/"))
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, name+"\r\n"); err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	if name == "" {
		return h.list(r, in)
	}
	parts := &parts{line: h, in: in}
	if parts.left, err = parts.length(); err != nil {
		return nil, err
	}
	var body io.Reader = parts
	switch {
	case h.failure == "memory":
		all, err := io.ReadAll(io.LimitReader(body, 24<<20))
		if err != nil {
			return nil, err
		}
		body = io.MultiReader(bytes.NewReader(all), body)
	case h.failure == "shared":
		body = strings.NewReader(strconv.FormatInt(h.count.Add(1), 10))
	case r.Method == http.MethodHead && h.failure != "head":
		body = http.NoBody
	}
	return &scheme.Resource{
		Response: httpmessage.Response{
			Status: http.StatusOK, Fields: httpmessage.NewFields("Content-Type", "application/octet-stream"),
			Body: &closing{body, end}, ContentLength: -1,
		},
	}, nil
}

func (h *line) list(r scheme.Request, in *bufio.Reader) (*scheme.Resource, error) {
	l := &scheme.Listing{Kind: scheme.KindDirectory, URI: r.URI.String()}
	resource := scheme.ListingResource(l)
	read := int64(0)
	for {
		name, err := h.readLine(in)
		switch {
		case err != nil && h.failure == "cut listing":
			return resource, nil
		case err != nil:
			return nil, err
		case name == ".":
			return resource, nil
		}
		if read += int64(len(name)); (len(l.Items) == h.limits.Entries || read > h.limits.Bytes) &&
			h.failure != "unlimited" {
			if h.failure == "no part" {
				return nil, scheme.ErrInvalidResponse
			}
			l.Incomplete = "there are more"
			return resource, nil
		}
		name = strings.TrimPrefix(name, " ")
		item := scheme.Item{Kind: scheme.ItemFile, Name: scheme.DecodeText(name)}
		if link, err := uri.Parse(r.URI.String() + url.PathEscape(name)); err == nil && name != "." && name != ".." {
			item.URI = link.Normalize().String()
		}
		switch h.failure {
		case "raw names":
			item.Name = name
		case "raw links":
			item.URI = r.URI.String() + name
		case "wrong links":
			item.URI = r.URI.String() + "x"
		case "raw fields":
			if value, err := url.PathUnescape(name); err == nil {
				resource.Fields.Add("X-Name", value)
			}
		}
		l.Items = append(l.Items, item)
	}
}

func (h *line) readLine(in *bufio.Reader) (string, error) {
	var text []byte
	for {
		b, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		case b == '\n':
			return strings.TrimSuffix(string(text), "\r"), nil
		case len(text) == h.limits.Line && h.failure != "long lines":
			return "", scheme.ErrInvalidResponse
		case len(text) > 4<<20:
			return "", scheme.ErrInvalidResponse
		}
		text = append(text, b)
	}
}

// parts reads a body in chunks.
type parts struct {
	line *line
	in   *bufio.Reader
	left int64 // bytes left of the chunk; 0 after the last one
}

// Read implements io.Reader.
func (p *parts) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n, err := p.in.Read(b[:min(int64(len(b)), p.left)])
	if p.left -= int64(n); p.left == 0 && err == nil {
		p.left, err = p.length()
	}
	switch {
	case err == nil:
		return n, nil
	case p.line.failure == "premature":
		return n, io.EOF
	case errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, p.line.hide(err)
}

// length reads the length of a chunk.
func (p *parts) length() (int64, error) {
	text, err := p.line.readLine(p.in)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil && p.line.failure == "panic" {
		panic(err)
	}
	if err != nil {
		return 0, scheme.ErrInvalidResponse
	}
	return int64(n), nil
}

type closing struct {
	io.Reader
	end func()
}

// Close implements io.Closer.
func (c *closing) Close() error {
	c.end()
	return nil
}

// peer implements the server.
func peer(conn net.Conn, s *schemetest.Server) {
	text, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	out := bufio.NewWriter(conn)
	if name := strings.TrimSuffix(text, "\r\n"); name != "" {
		s.Requested(name)
		sendBody(out, s.Body())
	} else {
		for _, name := range s.Names {
			// The space distinguishes a name "." from the terminator.
			if _, err := out.WriteString(" " + name + "\r\n"); err != nil {
				return
			}
		}
		_, _ = out.WriteString(".\r\n")
	}
	if out.Flush() == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
}

// sendBody sends a body in chunks, each after a line with its length; the last has length 0.
func sendBody(out *bufio.Writer, body io.Reader) {
	part := make([]byte, 32<<10)
	for {
		n, err := body.Read(part)
		if n > 0 {
			fmt.Fprintf(out, "%d\r\n", n)
			_, _ = out.Write(part[:n])
		}
		if err != nil {
			fmt.Fprint(out, "0\r\n")
			return
		}
		if out.Flush() != nil {
			return
		}
	}
}

// longAgo returns a deadline that has passed.
func longAgo() time.Time { return time.Unix(1, 0) }

func suite(broken failure) schemetest.Suite {
	return schemetest.Suite{
		New: func(_ testing.TB, dial scheme.Dial, limits scheme.Limits) scheme.Handler {
			return &line{dial: dial, limits: limits, failure: broken}
		},
		Peer:     peer,
		Resource: func(address string) string { return "line://" + address + "/name" },
		Listing:  func(address string) string { return "line://" + address + "/" },
	}
}
