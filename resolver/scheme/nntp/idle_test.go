package nntp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/nntp"
	"github.com/urnd/urnd/uri"
)

// pooled returns a handler with idle connections, which is closed at the end of the test.
func pooled(t *testing.T, c nntp.Config) *nntp.Handler {
	t.Helper()
	if c.MaxIdle == 0 {
		c.MaxIdle = 8
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = time.Minute
	}
	h := nntp.New(c)
	t.Cleanup(h.Close)
	return h
}

// ask fetches a URL completely, and returns the error, or the status of a refusal.
func ask(t *testing.T, h *nntp.Handler, text string, change ...func(*scheme.Request)) (int, error) {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r := scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u, Fields: httpmessage.Fields{}}}
	for _, c := range change {
		c(&r)
	}
	resource, err := h.Fetch(t.Context(), r)
	var refusal *scheme.StatusError
	switch {
	case errors.As(err, &refusal):
		return refusal.Status, nil
	case err != nil:
		return 0, err
	}
	defer resource.Body.Close()
	_, err = io.Copy(io.Discard, resource.Body)
	return resource.Status, err
}

// TestUsedAgain requires that a connection is reused, unless bytes of the last response are left on it.
func TestUsedAgain(t *testing.T) {
	s := (&reader{replies: map[string]string{
		"GROUP none": "411 none", "ARTICLE <none@b>": "430 none", "ARTICLE <odd@b>": "340 odd",
		"GROUP wait":       "480 log in",
		"ARTICLE <long@b>": "220 0 <long@b>\r\n\r\n" + strings.Repeat("a long line\r\n", 10_000) + ".",
		"ARTICLE <more@b>": "220 0 <more@b>\r\n\r\ntext\r\n.\r\n220 0 <a@b>\r\nSubject: of another",
		"ARTICLE <part@b>": "220 0 <part@b>\r\nContent-Type: multipart/mixed; " +
			"boundary=x\r\n\r\n--x\r\n\r\none\r\n--x\r\n\r\ntwo\r\n--x--\r\n.",
	}}).start(t)
	c := config()
	c.Limits.Bytes = 1 << 10
	h, at := pooled(t, c), "news://"+s.Address+"/"
	for _, step := range []struct {
		what, path string
		status     int
		accepted   int
	}{
		{"a group", "g", 200, 1},
		{"an article", "a@b", 200, 1},
		{"its source", "a@b?source", 200, 1},
		{"the first of its parts", "part@b?part=1", 200, 1},
		{"an article that is not there", "none@b", 404, 1},
		{"a group that is not there", "none", 404, 1},
		{"a group for others", "wait", 401, 1},
		{"all of a long article", "long@b?source", 200, 1},
		{"the beginning of a long article", "long@b", 200, 1},
		{"after it", "a@b", 200, 2},
		{"a reply to another command", "odd@b", 0, 2},
		{"after it", "a@b", 200, 3},
		{"one reply too many", "more@b", 200, 3},
		{"after it", "a@b", 200, 4},
		{"again", "g", 200, 4},
	} {
		if got, err := ask(t, h, at+step.path); got != step.status || (err != nil) != (step.status == 0) {
			t.Errorf("%s: %d, %v, want %d", step.what, got, err, step.status)
		}
		if got := s.accepted(); got != step.accepted {
			t.Errorf("%s: %d connections, want %d", step.what, got, step.accepted)
		}
	}
	if sent := strings.Join(s.commands(), "|"); strings.Contains(sent, "OVER 1-1|OVER") ||
		strings.Count(sent, "CAPABILITIES") != 4 {
		t.Errorf("it sends %s, want GROUP before each OVER, and one CAPABILITIES for each connection", sent)
	}
}

// TestUsedAgainByOldServer: RFC 977 has no DATE.
func TestUsedAgainByOldServer(t *testing.T) {
	s := (&reader{replies: map[string]string{"CAPABILITIES": "500 what?", "DATE": "500 what?"}}).start(t)
	h := pooled(t, config())
	for range 3 {
		if got, err := ask(t, h, "news://"+s.Address+"/g"); got != 200 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	}
	if got := s.accepted(); got != 1 {
		t.Errorf("%d connections", got)
	}
}

// TestEndedMeanwhile requires that clients do not notice when the server has closed an idle connection, in any
// way.
func TestEndedMeanwhile(t *testing.T) {
	for _, tt := range []struct{ what, command, reply string }{
		{"closed", "", ""},
		{"closed when it is asked whether it is alive", "DATE", "\x00"},
		{"too late", "DATE", "400 idle\x00"},
		{"closed at the next command", "GROUP", "\x00"},
		{"idle for too long, RFC 3977 section 3.2.1", "GROUP", "400 idle\x00"},
		{"closed in the middle of an answer", "OVER", "224 these\r\n1\tone\x00"},
	} {
		s := (&reader{}).start(t)
		h := pooled(t, config())
		for range 2 {
			if got, err := ask(t, h, "news://"+s.Address+"/g"); got != 200 || err != nil {
				t.Fatalf("%s: before: %d, %v", tt.what, got, err)
			}
		}
		if tt.command == "" {
			s.closeAll()
		}
		s.breakFirst(map[string]string{tt.command: tt.reply})
		if got, err := ask(t, h, "news://"+s.Address+"/g"); got != 200 || err != nil {
			t.Errorf("%s: %d, %v", tt.what, got, err)
		}
		if got := s.accepted(); got != 2 {
			t.Errorf("%s: %d connections, want 2", tt.what, got)
		}
	}
	// A new connection is not retried: the failure would repeat.
	s := (&reader{broken: map[string]string{"GROUP": "\x00"}, replies: map[string]string{"GROUP": "\x00"}}).start(t)
	if _, err := ask(t, pooled(t, config()), "news://"+s.Address+"/g"); !errors.Is(err, resolver.ErrUnreachable) ||
		s.accepted() != 1 {
		t.Errorf("a new connection: %v, %d connections", err, s.accepted())
	}
}

// TestUsedAgainByLogin: a connection must not be reused for another password, or for a request whose Check
// denies the server.
func TestUsedAgainByLogin(t *testing.T) {
	s := (&reader{replies: map[string]string{
		"AUTHINFO PASS wrong": "481 wrong", "AUTHINFO USER": "381 go on",
		"AUTHINFO PASS": "281 welcome",
	}}).start(t)
	h := pooled(t, config(s.Server))
	basic := func(r *scheme.Request) { r.Fields.Set("Authorization", "Basic cmVhZGVyOnNlY3JldA==") } // reader:secret
	for _, step := range []struct {
		url      string
		change   func(*scheme.Request)
		status   int
		accepted int
	}{
		{"news://reader:secret@" + s.Address + "/g", nil, 200, 1},
		{"news://reader:secret@" + s.Address + "/g", nil, 200, 1},
		{"news://" + s.Address + "/g", basic, 200, 1},
		{"news://" + s.Address + "/g", nil, 200, 2},
		{"news:g", nil, 200, 2}, // without login
		{"news://other:secret@" + s.Address + "/g", nil, 200, 3},
		{"news://reader:wrong@" + s.Address + "/g", nil, 401, 4},
		{"news://reader@" + s.Address + "/g", nil, 401, 5},
		{"news://reader:secret@" + s.Address + "/g", nil, 200, 5},
	} {
		var changes []func(*scheme.Request)
		if step.change != nil {
			changes = append(changes, step.change)
		}
		if got, err := ask(t, h, step.url, changes...); got != step.status || err != nil ||
			s.accepted() != step.accepted {
			t.Errorf("%s: %d, %v, %d connections, want %d and %d", step.url, got, err, s.accepted(), step.status,
				step.accepted)
		}
	}
	before := len(s.commands())
	forbid := func(r *scheme.Request) { r.Check = func(netip.AddrPort) error { return resolver.ErrForbidden } }
	if _, err := ask(t, h, "news:g", forbid); !errors.Is(err, resolver.ErrForbidden) || len(s.commands()) != before {
		t.Errorf("a server that must not be asked: %v", err)
	}
}

// TestFullServer has a server that rejects further connections: the idle ones of all users to it are closed.
func TestFullServer(t *testing.T) {
	for full, otherwise := range map[string]int{"400 too many": 503, "502 too many": 403, "503 too many": 503} {
		s := (&reader{most: 2, full: full}).start(t)
		h := pooled(t, config())
		for _, user := range []string{"", "a:b@", "c:d@", "e:f@", ""} {
			if got, err := ask(t, h, "news://"+user+s.Address+"/g"); got != 200 || err != nil {
				t.Errorf("%s: %q: %d, %v", full, user, got, err)
			}
		}
		s.mu.Lock()
		s.most = -1 // rejects all connections
		s.mu.Unlock()
		if got, err := ask(t, h, "news://x:y@"+s.Address+"/g"); got != otherwise || err != nil {
			t.Errorf("%s: none has a place: %d, %v", full, got, err)
		}
	}
}

// TestIdleBounds requires the timeout and the limits of idle connections, half of them to one server, and none
// after Close.
func TestIdleBounds(t *testing.T) {
	s := (&reader{}).start(t)
	open := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.open
	}
	for _, tt := range []struct {
		what   string
		change func(*nntp.Config)
		want   int
	}{
		{"a bound", func(c *nntp.Config) { c.MaxIdle = 4 }, 2},
		{"a time", func(c *nntp.Config) { c.IdleTimeout = time.Millisecond }, 0},
		{"none", func(c *nntp.Config) { c.MaxIdle = -1 }, 0},
	} {
		c := config()
		tt.change(&c)
		h := pooled(t, c)
		for _, user := range []string{"", "a:b@", "c:d@", "e:f@"} {
			if got, err := ask(t, h, "news://"+user+s.Address+"/g"); got != 200 || err != nil {
				t.Fatalf("%s: %d, %v", tt.what, got, err)
			}
		}
		testserver.Wait(t, tt.what+": connections are closed", func() bool { return open() == tt.want })
		h.Close()
		testserver.Wait(t, tt.what+": after Close none waits", func() bool { return open() == 0 })
		if got, err := ask(t, h, "news://"+s.Address+"/g"); got != 200 || err != nil {
			t.Errorf("%s: after Close: %d, %v", tt.what, got, err)
		}
		testserver.Wait(t, tt.what+": after Close none waits again", func() bool { return open() == 0 })
	}
}

// TestConcurrentUse: many concurrent requests share few connections, and each gets its own response.
func TestConcurrentUse(t *testing.T) {
	s := (&reader{}).start(t)
	h := pooled(t, config())
	const clients, rounds = 4, 10
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for range rounds {
				for _, path := range []string{"g", "a@b", "a@b?source"} {
					if got, err := ask(t, h, "news://"+s.Address+"/"+path); got != 200 || err != nil {
						t.Errorf("%s: %d, %v", path, got, err)
					}
				}
			}
		})
	}
	running.Wait()
	if got := s.accepted(); got > clients {
		t.Errorf("%d connections, want at most %d", got, clients)
	}
}

// TestReadAfterClose: a closed body must not read responses to later requests.
func TestReadAfterClose(t *testing.T) {
	s := (&reader{}).start(t)
	h := pooled(t, config())
	u, err := uri.Parse("news://" + s.Address + "/a@b?source")
	if err != nil {
		t.Fatal(err)
	}
	resource, err := h.Fetch(t.Context(), scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resource.Body); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second Close must not close the connection, which may be in use by another request
		resource.Body.Close()
	}
	if n, err := resource.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%d, %v", n, err)
	}
	if got, err := ask(t, h, "news://"+s.Address+"/g"); got != 200 || err != nil || s.accepted() != 1 {
		t.Errorf("%d, %v, %d connections", got, err, s.accepted())
	}
}

// TestClientLeaves: a client that disconnects during the liveness check closes that connection only.
func TestClientLeaves(t *testing.T) {
	s := (&reader{}).start(t)
	c := config()
	ctx, cancel := context.WithCancel(t.Context())
	dial := c.Dial
	c.Dial = func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		conn, err := dial(ctx, network, address, check)
		return leaving{conn, cancel}, err
	}
	h := pooled(t, c)
	fetch := func(ctx context.Context, text string) (*scheme.Resource, error) {
		u, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return h.Fetch(ctx, scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}})
	}
	first, err := fetch(t.Context(), "news://"+s.Address+"/a@b?source")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ask(t, h, "news://"+s.Address+"/g"); got != 200 || err != nil { // a second connection
		t.Fatalf("%d, %v", got, err)
	}
	io.Copy(io.Discard, first.Body)
	first.Body.Close()
	if _, err := fetch(ctx, "news://"+s.Address+"/g"); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that disconnects: %v", err)
	}
	if got, err := ask(t, h, "news://"+s.Address+"/g"); got != 200 || err != nil || s.accepted() != 2 {
		t.Errorf("another: %d, %v, %d connections, want 2", got, err, s.accepted())
	}
}

// leaving is a connection whose client disconnects when DATE is sent.
type leaving struct {
	net.Conn
	leave func()
}

// Write implements net.Conn.
func (l leaving) Write(p []byte) (int, error) {
	if strings.HasPrefix(string(p), "DATE") {
		l.leave()
	}
	return l.Conn.Write(p)
}
