package schemetest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/schemetest"
	"github.com/urnd/urnd/uri"
)

// finger is the example of CONTRIBUTING.md: a handler for finger://host/user (draft-ietf-uri-url-finger), which
// queries a server about a user (RFC 1288).
type finger struct{ dial scheme.Dial }

// Fetch implements scheme.Handler.
func (h finger) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	user, err := userOf(r.URI)
	if err != nil {
		return nil, err
	}
	conn, err := h.dial(ctx, "tcp", addressOf(r.URI), r.Check)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err) // denials of the guard keep their status
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // cancellation also ends the body
	end := func() { stop(); conn.Close() }
	in := bufio.NewReader(conn)
	if _, err = io.WriteString(conn, user+"\r\n"); err == nil { // RFC 1288 section 2.3
		_, err = in.Peek(1) // a silent server is an error now, not in the middle of a body
	}
	if err != nil && !errors.Is(err, io.EOF) {
		end()
		return nil, fmt.Errorf("%w: asking about a user: %w", resolver.ErrUnreachable, err)
	}
	resource := &scheme.Resource{
		Response: httpmessage.Response{
			Status: http.StatusOK, Fields: httpmessage.NewFields("Content-Type", "text/plain"), Body: http.NoBody,
			ContentLength: -1,
		},
	}
	if r.Method == http.MethodHead {
		end()
		return resource, nil
	}
	resource.Body = reply{in, end}
	return resource, nil
}

// userOf returns the query of a URL: "" lists all users. A line end would start another query, and an at sign
// would make the server query another host, which no guard has allowed (RFC 1288 section 3.2.1).
func userOf(u uri.URI) (string, error) {
	user, err := url.PathUnescape(strings.TrimPrefix(u.Path(), "/"))
	if err != nil || strings.ContainsAny(user, "\r\n@") {
		return "", scheme.UpstreamError(http.StatusBadRequest,
			"the name of a user has neither a line end nor an at sign")
	}
	return user, nil
}

func addressOf(u uri.URI) string {
	host, _ := u.Host()
	port, _ := u.Port()
	if port == "" {
		port = "79" // with a row in uri/scheme.go: u.DefaultPort()
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// reply is a body that ends with its connection: RFC 1288 section 2.1.
type reply struct {
	io.Reader
	end func()
}

// Close implements io.Closer.
func (r reply) Close() error { r.end(); return nil }

func TestFinger(t *testing.T) {
	schemetest.Run(t, schemetest.Suite{
		New: func(_ testing.TB, dial scheme.Dial, _ scheme.Limits) scheme.Handler { return finger{dial} },
		Peer: func(conn net.Conn, s *schemetest.Server) {
			if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
				_, _ = io.Copy(conn, s.Body())
			}
		},
		Resource:    func(address string) string { return "finger://" + address + "/user" },
		EndsAtClose: true,
	})
}

// TestFingerd requires that in.fingerd replies as in RFC 1288 section 2.3.
func TestFingerd(t *testing.T) {
	server := testserver.StartFinger(t)
	dial := netguard.New(time.Minute, netip.MustParsePrefix("127.0.0.0/8"))
	h := finger{func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		return dial.WithCheck(check).DialContext(ctx, network, address)
	}}
	for user, want := range map[string]string{"root": "Login: root", "nobody-of-this-name": "no such user"} {
		u, err := uri.Parse("finger://" + server.String() + "/" + user)
		if err != nil {
			t.Fatal(err)
		}
		resource, err := h.Fetch(t.Context(),
			scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resource.Body)
		resource.Body.Close()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %q, %v", user, body, err)
		}
	}
}

func TestFingerRequests(t *testing.T) {
	for _, c := range []struct{ uri, address, request string }{
		{"finger://h.example/user", "h.example:79", "user\r\n"},
		{"finger://h.example", "h.example:79", "\r\n"},
		{"finger://[::1]:7979/%2FW%20user", "[::1]:7979", "/W user\r\n"},
		{"finger://h.example/a%0D%0Ab", "", ""},
		{"finger://h.example/user%40other.example", "", ""},
	} {
		address, request := "", ""
		dial := func(_ context.Context, _, to string, _ func(netip.AddrPort) error) (net.Conn, error) {
			client, server := net.Pipe()
			address = to
			go func() {
				defer server.Close()
				request, _ = bufio.NewReader(server).ReadString('\n')
			}()
			return client, nil
		}
		u, err := uri.Parse(c.uri)
		if err != nil {
			t.Fatal(err)
		}
		resource, err := finger{dial}.Fetch(t.Context(),
			scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}})
		if err == nil {
			_, _ = io.Copy(io.Discard, resource.Body)
			resource.Body.Close()
		}
		if (err == nil) != (c.address != "") || address != c.address || request != c.request {
			t.Errorf("%s: %q at %q, %v", c.uri, request, address, err)
		}
	}
}
