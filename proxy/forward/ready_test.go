package forward_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

const readyURI, ownID = "http://a.example/b", "0123456789abcdef"

// readySite is a server over a Proxy, and its origin, which answers with response.
type readySite struct {
	proxy *forward.Proxy
	cache *httpcache.Cache
	conn  net.Conn
	in    *bufio.Reader

	mu       sync.Mutex
	now      time.Time
	response scheme.Resource
	body     string
}

// Fetch implements scheme.Handler.
func (s *readySite) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	response := s.response
	response.ContentLength, response.Body = int64(len(s.body)), io.NopCloser(strings.NewReader(s.body))
	return &response, nil
}

func (s *readySite) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// writer is a forward.ResponseWriter.
type writer struct {
	http.ResponseWriter
	request *http.Request
}

func (w writer) WriteFields(status int, fields httpmessage.Fields) {
	fields.Clone().CopyTo(w.Header())
	if !fields.Has("Content-Type") {
		w.Header()["Content-Type"] = nil
	}
	w.WriteHeader(status)
}

func (w writer) SetReason(status int, reason string) { listen.SetReason(w.request, status, reason) }
func (writer) SetServer(netip.AddrPort)              {}
func (writer) IsLate() bool                          { return false }
func (writer) Broken(error)                          {}

// Unwrap is for http.ResponseController.
func (w writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// newReadySite returns a site, and connects to it. own is whether it identifies requests.
func newReadySite(t testing.TB, own bool) *readySite {
	t.Helper()
	store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 64 << 20, Size: (*httpcache.Entry).Size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s := &readySite{now: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	s.cache = httpcache.New(httpcache.Config{
		Store: store, Now: s.time, MaxObject: 1 << 20, MaxArriving: 1 << 20, Same: func(string, string) (string, bool) { return "", false },
	})
	t.Cleanup(s.cache.Close)
	config := forward.Config{Fetch: s, Cache: s.cache, Via: httpmessage.NewViaName(), Now: s.time, Fetches: resolver.Quota{Slots: make(resolver.Slots, 8)}}
	if own {
		config.OwnField = httpmessage.RequestIDField
	}
	s.proxy = forward.New(config)
	s.serve(t, own)
	return s
}

// serve serves the Proxy, as Handler does.
func (s *readySite) serve(t testing.TB, own bool) {
	t.Helper()
	target, err := uri.Parse(readyURI)
	if err != nil {
		t.Fatal(err)
	}
	server := listen.NewServer(listen.ServerConfig{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if own {
				w.Header()[httpmessage.RequestIDField] = []string{ownID}
			}
			asked := &forward.Request{Request: httpmessage.FromRequest(r), Key: target, Major: r.ProtoMajor, Minor: r.ProtoMinor}
			asked.URI = target
			if _, err := s.proxy.Serve(r.Context(), writer{w, r}, asked); err != nil {
				t.Error(err)
			}
		}),
		Now: time.Now, Log: slog.New(slog.DiscardHandler), MaxTarget: 1024, MaxHeader: 64 << 10,
		HeaderTimeout: testserver.Patience, IdleTimeout: testserver.Patience, ShutdownTimeout: testserver.Patience,
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	if s.conn, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	s.in = bufio.NewReader(s.conn)
	t.Cleanup(func() {
		s.conn.Close()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// ask sends a request, and returns the head of its response as it came.
func (s *readySite) ask(t testing.TB, method string, lines ...string) string {
	t.Helper()
	if err := s.conn.SetDeadline(time.Now().Add(testserver.Patience)); err != nil {
		t.Fatal(err)
	}
	request := method + " /b HTTP/1.1\r\nHost: a.example\r\n" + strings.Join(append(lines, "\r\n"), "\r\n")
	if _, err := io.WriteString(s.conn, strings.Replace(request, "\r\n\r\n\r\n", "\r\n\r\n", 1)); err != nil {
		t.Fatal(err)
	}
	var head bytes.Buffer
	length := 0
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", head.String(), err)
		}
		head.WriteString(line)
		if line == "\r\n" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok && method != "HEAD" {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.in.Discard(length); err != nil {
		t.Fatal(err)
	}
	return head.String()
}

// store makes the cache store a response of the origin.
func (s *readySite) store(t testing.TB, status int, reason, body string, header http.Header) httpcache.Ready {
	t.Helper()
	s.mu.Lock()
	s.response, s.body = scheme.Resource{Response: httpmessage.Response{Status: status, Reason: reason, Fields: httpmessage.FromHeader(header)}}, body
	s.mu.Unlock()
	s.cache.Purge(readyURI, true)
	s.ask(t, "GET")
	s.mu.Lock()
	s.now = s.now.Add(10 * time.Second)
	s.mu.Unlock()
	var ready httpcache.Ready
	testserver.Wait(t, "it is stored", func() (ok bool) {
		ready, ok = s.cache.Ready(readyURI, "", nil, s.time())
		return ok
	})
	return ready
}

// check compares the heads that are made of a stored response with those that are sent.
func (s *readySite) check(t testing.TB, ready httpcache.Ready) {
	t.Helper()
	for _, ask := range []struct {
		method, line string
		unmodified   bool
	}{
		{"GET", "User-Agent: x", false},
		{"HEAD", "User-Agent: x", false},
		{"GET", "If-None-Match: *", true},
		{"HEAD", "If-None-Match: *", true},
	} {
		unmodified := ask.unmodified && ready.Status()/100 == 2
		sent := s.ask(t, ask.method, ask.line)
		var date string
		if _, rest, ok := strings.Cut(sent, "\r\nDate: "); ok {
			date, _, _ = strings.Cut(rest, "\r\n")
		}
		const before = "before"
		if made := string(s.proxy.AppendReady([]byte(before), ready, unmodified, ownID, []byte(date))); made != before+sent {
			t.Errorf("%s with %s:\n%q is made, and sent is\n%q", ask.method, ask.line, made, before+sent)
		}
	}
}

// TestReady: the head of a ready response has the octets that net/http sends.
func TestReady(t *testing.T) {
	const date = "Sun, 22 Nov 2026 07:59:58 GMT"
	for name, test := range map[string]struct {
		status       int
		reason, body string
		header       http.Header
	}{
		"a page": {200, "OK", "body", http.Header{
			"Date": {date}, "Content-Type": {"text/html"}, "Content-Encoding": {"br"}, "Content-Language": {"de"}, "Etag": {`"1"`},
			"Last-Modified": {"Sat, 21 Nov 2026 08:00:00 GMT"}, "Server": {"x"}, "Set-Cookie": {"a=b", "c=d"}, "Accept-Ranges": {"bytes"},
		}},
		"Last-Modified alone":    {200, "OK", "body", http.Header{"Date": {date}, "Last-Modified": {"Sat, 21 Nov 2026 08:00:00 GMT"}}},
		"nothing":                {200, "OK", "", http.Header{}},
		"no Date":                {200, "OK", "body", http.Header{"Date": {date}, "Cache-Control": {`max-age=60, private="Date, X-A"`}, "X-A": {"1"}}},
		"no Date without asking": {200, "OK", "body", http.Header{"Date": {date}, "Zz": {"1"}, "Cache-Control": {`max-age=60, no-cache="Date"`}}},
		"several proxies": {200, "OK", "body", http.Header{
			"Via": {"1.0 a, 1.1 b", "1.1 c"}, "Cache-Status": {"a; hit; ttl=0", "b; fwd=miss"}, "Age": {"7"},
		}},
		"odd names": {200, "OK", "body", http.Header{
			"x-lower": {"1"}, "Bad Name": {"1"}, "": {"1"}, "Trailer:X": {"1"}, "~!#$%&'*+-.^_`|": {"1"}, "Z": nil, "Y": {}, "X": {""}, "X-\x7f": {"1"},
		}},
		"odd values": {200, "OK", "body", http.Header{
			"A": {" a\t"}, "B": {"b\r\nX: c"}, "C": {"\xff\xfe", "0", "a, b"}, "D": {"0\r\n"}, "Content-Type": {""},
		}},
		"fields of one connection": {200, "OK", "body", http.Header{
			"Trailer": {"X-T"}, "Connection": {"close, X-C"}, "X-C": {"1"}, "Transfer-Encoding": {"chunked"}, "Keep-Alive": {"1"}, "Upgrade": {"x"},
			"Content-Length": {"99"},
		}},
		"fields of urnd":       {200, "OK", "body", http.Header{httpmessage.RequestIDField: {"origin"}, "X-Request-Ic": {"1"}, "X-Request-Ie": {"1"}}},
		"other words":          {200, "Fine, thanks", "body", http.Header{}},
		"no words":             {200, "", "body", http.Header{}},
		"words of 404":         {404, "Not Found", "body", http.Header{"Etag": {`"1"`}}},
		"other words of 404":   {404, "Nicht da: \xe4", "body", http.Header{}},
		"an unknown status":    {299, "", "body", http.Header{}},
		"one with words":       {299, "Odd", "body", http.Header{}},
		"301":                  {301, "Moved Permanently", "body", http.Header{"Location": {"/c"}}},
		"410":                  {410, "", "body", http.Header{"Content-Range": {"bytes */4"}}},
		"410 with words":       {410, "No", "body", http.Header{}},
		"500 without words":    {500, "", "", http.Header{}},
		"205":                  {205, "Reset Content", "", http.Header{}},
		"more than one buffer": {200, "Long", strings.Repeat("body", 5000), http.Header{"X-Long": {strings.Repeat("a", 5000), strings.Repeat("b", 3000)}}},
		"Content-Range of 200": {200, "OK", "body", http.Header{"Content-Range": {"bytes 0-3/4"}, "Vary": {""}, "Content-Location": {"/c"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, own := range []bool{false, true} {
				s := newReadySite(t, own)
				header := test.header.Clone()
				if len(header["Cache-Control"]) == 0 {
					header["Cache-Control"] = []string{"max-age=60"}
				}
				s.check(t, s.store(t, test.status, test.reason, test.body, header))
			}
		})
	}
}

// TestReadyAges: the head that was made once is sent with other ages, and not by another Proxy.
func TestReadyAges(t *testing.T) {
	s := newReadySite(t, true)
	s.check(t, s.store(t, 200, "OK", "body", http.Header{"Cache-Control": {"max-age=1000"}}))
	s.mu.Lock()
	s.now = s.now.Add(123 * time.Second)
	s.mu.Unlock()
	ready, ok := s.cache.Ready(readyURI, "", nil, s.time())
	if !ok || ready.Memo() == nil || ready.Age() != 133*time.Second {
		t.Errorf("ready: %t, %v old, with %v", ok, ready.Age(), ready.Memo())
	}
	s.check(t, ready)
	other := forward.New(forward.Config{Cache: s.cache, Via: httpmessage.NewViaName(), Now: s.time})
	for range 2 {
		if head := string(other.AppendReady(nil, ready, false, "not sent", nil)); strings.Contains(head, httpmessage.RequestIDField) {
			t.Errorf("another Proxy sends %q", head)
		}
		s.check(t, ready)
	}
}

// TestReadySelects: what Serve selects by a field of the request is ready, and by one that it changes is not.
func TestReadySelects(t *testing.T) {
	for _, test := range []struct {
		vary  string
		named forward.Forwarded
		key   string
		want  bool
		site  *forward.Site
	}{
		{"X-Forwarded-For", forward.ForwardedTransparent, readyURI, false, &forward.Site{Forwarded: forward.ForwardedFor}},
		{"X-Forwarded-For", forward.ForwardedFor, readyURI, true, &forward.Site{}},
		{"X-A", forward.ForwardedFor, readyURI, true, nil},
		{"X-Forwarded-For", forward.ForwardedTransparent, readyURI, true, nil},
		{"X-Forwarded-For", forward.ForwardedFor, readyURI, false, nil},
		{"Forwarded, X-A", forward.ForwardedOff, readyURI, false, nil},
		{"Forwarded", forward.ForwardedStandard, readyURI, false, nil},
		{"X-A", forward.ForwardedTransparent, "https://a.example/b", true, nil},
		{"X-A", forward.ForwardedTransparent, "ftp://a.example/b", false, nil},
	} {
		s := newReadySite(t, false)
		p := forward.New(forward.Config{Cache: s.cache, Forwarded: test.named})
		request := &httpcache.Request{Request: httpmessage.Request{Method: http.MethodGet}, Key: test.key}
		a, err := s.cache.Serve(t.Context(), request, httpcache.Forward(func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
			fields := httpmessage.FieldsOf("Cache-Control", "max-age=60", "Vary", test.vary)
			return &httpmessage.Response{Status: 200, Fields: fields, ContentLength: 4, Body: io.NopCloser(strings.NewReader("body"))}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Content.SendTo(io.Discard, nil); err != nil {
			t.Fatal(err)
		}
		a.Content.Close()
		none := func(string) []string { return nil }
		if _, ok := s.cache.Ready(test.key, "", none, s.time()); !ok {
			t.Errorf("%+v: it is not stored", test)
		}
		if _, ok := p.Ready(test.key, "", test.site, none, s.time()); ok != test.want {
			t.Errorf("%+v: ready is %t", test, ok)
		}
	}
}

// TestReadyAllocates: nothing, once the head is made.
func TestReadyAllocates(t *testing.T) {
	s := newReadySite(t, true)
	ready := s.store(t, 200, "OK", "body", http.Header{"Cache-Control": {"max-age=1000"}, "Etag": {`"1"`}, "Content-Type": {"text/html"}})
	buffer, date := make([]byte, 0, 4096), []byte("Sun, 22 Nov 2026 08:00:00 GMT")
	for _, unmodified := range []bool{false, true} {
		if n := testing.AllocsPerRun(100, func() {
			if _, ok := s.proxy.Ready(readyURI, "", nil, func(string) []string { return nil }, s.time()); !ok {
				t.Error("it is not ready")
			}
			buffer = s.proxy.AppendReady(buffer[:0], ready, unmodified, ownID, date)
		}); n != 0 {
			t.Errorf("unmodified: %t: %v allocations", unmodified, n)
		}
	}
}

// FuzzReady: the octets are those of net/http for any fields and words.
func FuzzReady(f *testing.F) {
	f.Add(uint16(200), "OK", "Content-Type", "text/html", "Via", "1.1 a")
	f.Add(uint16(204), "Gone", "cache-status", "0", "age", "x")
	f.Add(uint16(299), "", "X-Request-Id", " \r\n", "date", "0")
	sites := []*readySite{newReadySite(f, false), newReadySite(f, true)}
	f.Fuzz(func(t *testing.T, status uint16, reason, name, value, name2, value2 string) {
		code := 200 + int(status)%400
		if code == 204 || code == 206 || code == 304 || strings.ContainsAny(reason, "\r\n") {
			t.Skip("it is not ready, or no origin sends it")
		}
		for _, one := range []string{name, name2} {
			switch one {
			case "Age", "Connection", "Cache-Control", "Date", "Vary":
				t.Skip("it may not be stored, or be stale")
			}
		}
		for _, s := range sites {
			header := http.Header{"Cache-Control": {"max-age=60"}, "Etag": {`"1"`}}
			header[name] = append(header[name], value)
			header[name2] = append(header[name2], value2)
			s.check(t, s.store(t, code, reason, "body", header))
		}
	})
}

// BenchmarkAppendReady: the head of a usual response.
func BenchmarkAppendReady(b *testing.B) {
	s := newReadySite(b, true)
	ready := s.store(b, 200, "OK", "body", http.Header{
		"Cache-Control": {"max-age=1000"}, "Etag": {`"1"`}, "Content-Type": {"text/html"}, "Date": {"Sun, 22 Nov 2026 08:00:00 GMT"}, "Server": {"x"},
	})
	buffer := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buffer = s.proxy.AppendReady(buffer[:0], ready, false, ownID, nil)
	}
}

// BenchmarkServe: a stored response for a request that net/http has read.
func BenchmarkServe(b *testing.B) {
	s := newReadySite(b, true)
	s.store(b, 200, "OK", "body", http.Header{
		"Cache-Control": {"max-age=1000"}, "Etag": {`"1"`}, "Content-Type": {"text/html"}, "Date": {"Sun, 22 Nov 2026 08:00:00 GMT"}, "Server": {"x"},
	})
	target, err := uri.Parse(readyURI)
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, readyURI, nil)
	for name, value := range map[string]string{
		"Accept": "text/html", "Accept-Encoding": "gzip", "Accept-Language": "de", "User-Agent": "test", "Referer": "http://a.example/", "Cookie": "a=b",
	} {
		r.Header.Set(name, value)
	}
	w := &discarded{header: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		asked := &forward.Request{Request: httpmessage.FromRequest(r), Key: target, Major: 1, Minor: 1}
		asked.URI = target
		if _, err := s.proxy.Serve(b.Context(), w, asked); err != nil || w.status != http.StatusOK {
			b.Fatal(w.status, err)
		}
	}
}

// discarded is a ResponseWriter of nobody.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header       { return d.header }
func (d *discarded) WriteHeader(status int)    { d.status = status }
func (*discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d *discarded) WriteFields(status int, fields httpmessage.Fields) {
	fields.Clone().CopyTo(d.Header())
	if !fields.Has("Content-Type") {
		d.Header()["Content-Type"] = nil
	}
	d.WriteHeader(status)
}

func (*discarded) SetReason(int, string)    {}
func (*discarded) SetServer(netip.AddrPort) {}
func (*discarded) IsLate() bool             { return false }
func (*discarded) Broken(error)             {}
