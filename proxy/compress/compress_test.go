package compress_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/compress"
)

var page = strings.Repeat("<p>One paragraph of many.</p>\n", 3000)

func newCompressor() *compress.Compressor {
	return compress.New(compress.Config{
		Codings: all,
		Types:   []string{"text/*", "application/json", "application/*+xml"},
	})
}

// decoder decodes a content coding as bytes arrive.
func decoder(t *testing.T, coding string, r io.Reader) io.Reader {
	t.Helper()
	var d io.Reader
	var err error
	switch coding {
	case compress.Gzip:
		d, err = gzip.NewReader(r)
	case compress.Brotli:
		d = brotli.NewReader(r)
	case compress.Zstd:
		var z *zstd.Decoder
		z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err == nil {
			t.Cleanup(z.Close)
		}
		d = z
	default:
		d = r
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func decoded(t *testing.T, coding string, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(decoder(t, coding, r))
	if err != nil {
		t.Fatalf("%s: %v", coding, err)
	}
	return string(text)
}

func response(body string, fields ...string) *httpmessage.Response {
	return &httpmessage.Response{
		Status: http.StatusOK, Fields: httpmessage.NewFields(fields...), Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

func accepting(coding string, fields ...string) httpmessage.Fields {
	return httpmessage.NewFields(append(fields, "Accept-Encoding", coding)...)
}

func TestResponse(t *testing.T) {
	t.Parallel()
	counts := make(map[string][2]int)
	c := compress.New(compress.Config{
		Codings: all, Types: []string{"text/html"},
		Compressed: func(coding string, in, out int) {
			n := counts[coding]
			counts[coding] = [2]int{n[0] + in, n[1] + out}
		},
	})
	for _, coding := range all {
		for range 3 { // reuses one encoder
			r := response(page, "Content-Type", "text/html; charset=utf-8", "Content-Length", "1", "ETag", `"a"`,
				"Accept-Ranges", "bytes", "Vary", "Accept",
				"Content-MD5", "x", "Digest", "x", "Repr-Digest", "x", "Content-Digest", "x", "Cache-Control",
				"max-age=60")
			c.Response("GET", accepting(coding), r)
			want := httpmessage.NewFields("Content-Type", "text/html; charset=utf-8", "ETag", `W/"a"`, "Vary", "Accept",
				"Cache-Control", "max-age=60",
				"Vary", "Accept-Encoding", "Content-Encoding", coding)
			if got := r.Fields; !equal(got, want) || r.ContentLength != -1 {
				t.Errorf("%s: %v, length %d", coding, got, r.ContentLength)
			}
			if got := decoded(t, coding, iotest.OneByteReader(r.Body)); got != page {
				t.Errorf("%s: %d bytes are decoded, want %d", coding, len(got), len(page))
			}
			if err := r.Body.Close(); err != nil {
				t.Error(err)
			}
			if n, err := r.Body.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("read from a closed body: %d, %v", n, err)
			}
		}
	}
	for _, coding := range all {
		if in, out := counts[coding][0], counts[coding][1]; in != 3*len(page) || out == 0 || out > in/10 {
			t.Errorf("%s: counted %d bytes to %d", coding, in, out)
		}
	}
}

func equal(a, b httpmessage.Fields) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestWhichResponses checks for each response whether it is compressed, and whether it gets Vary.
func TestWhichResponses(t *testing.T) {
	t.Parallel()
	const html = "text/html"
	short := page[:1000]
	for _, tt := range []struct {
		name     string
		request  httpmessage.Fields
		response *httpmessage.Response
		encoded  bool
		varies   bool
	}{
		{"page", accepting("gzip"), response(page, "Content-Type", html), true, true},
		{"pattern", accepting("gzip"), response(page, "Content-Type", "application/atom+xml"), true, true},
		{"case", accepting("gzip"), response(page, "Content-Type", "Text/HTML;charset=x"), true, true},
		{"image", accepting("gzip"), response(page, "Content-Type", "image/png"), false, false},
		{"no type", accepting("gzip"), response(page), false, false},
		{"events", accepting("gzip"), response(page, "Content-Type", "text/event-stream"), false, false},
		{"small", accepting("gzip"), response(short, "Content-Type", html), false, false},
		{
			"no-transform", accepting("gzip"),
			response(page, "Content-Type", html, "Cache-Control", "max-age=1, No-Transform"), false, false,
		},
		{"no coding", accepting("identity"), response(page, "Content-Type", html), false, true},
		{
			"codings of which the origin may choose", accepting("br, gzip, identity;q=0.5"),
			response(page, "Content-Type", html), false, true,
		},
		{"a coding that is not configured", accepting("deflate"), response(page, "Content-Type", html), false, true},
		{
			"compressed by the origin", accepting("gzip"),
			response(page, "Content-Type", html, "Content-Encoding", "deflate"), false, true,
		},
		{
			"part", accepting("gzip"),
			with(response(page, "Content-Type", html, "Content-Range", "bytes 0-1/2"), http.StatusPartialContent),
			false, true,
		},
		{
			"range that was not heeded", accepting("gzip", "Range", "bytes=0-1"), response(page, "Content-Type", html),
			false, true,
		},
		{
			"416", accepting("gzip"),
			with(response(page, "Content-Type", html, "Content-Range", "bytes */2"),
				http.StatusRequestedRangeNotSatisfiable), false, false,
		},
		{"204", accepting("gzip"), with(response("", "Content-Type", html), http.StatusNoContent), false, false},
		{"redirect", accepting("gzip"), with(response(page, "Content-Type", html), http.StatusFound), false, false},
		{"error", accepting("gzip"), with(response(page, "Content-Type", html), http.StatusNotFound), true, true},
	} {
		body := tt.response.Body
		newCompressor().Response("GET", tt.request, tt.response)
		if encoded := tt.response.Body != body; encoded != tt.encoded {
			t.Errorf("%s: compressed: %t", tt.name, encoded)
		}
		if varies := tt.response.Fields.Get("Vary") == "Accept-Encoding"; varies != tt.varies {
			t.Errorf("%s: varies: %t", tt.name, varies)
		}
	}
}

func with(r *httpmessage.Response, status int) *httpmessage.Response {
	r.Status = status
	return r
}

// TestHead requires that HEAD has the header fields of GET.
func TestHead(t *testing.T) {
	t.Parallel()
	for length, want := range map[string]string{"5000": "gzip", "": "gzip", "500": ""} {
		r := response("", "Content-Type", "text/plain", "ETag", `"a"`)
		if r.Body = http.NoBody; length != "" {
			r.Fields.Add("Content-Length", length)
		}
		newCompressor().Response("HEAD", accepting("gzip"), r)
		if got := r.Fields.Get("Content-Encoding"); got != want || r.Body != http.NoBody ||
			want != "" && r.Fields.Has("Content-Length") {
			t.Errorf("Content-Length %q: %v", length, r.Fields)
		}
	}
}

// TestNotModified requires that a 304 of an origin is consistent with the stored compressed form.
func TestNotModified(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ known, etag, want string }{
		{`W/"a"`, `"a"`, `W/"a"`},
		{`"b", W/"a,"`, `"a,"`, `W/"a,"`},
		{`"a"`, `"a"`, `"a"`},
		{`W/"a", "a"`, `"a"`, `"a"`},
		{`W/"a"`, `W/"a"`, `W/"a"`},
		{"*", `"a"`, `"a"`},
	} {
		r := with(response("", "ETag", tt.etag, "Vary", "Accept", "Accept-Ranges", "bytes", "Content-Encoding", "x"),
			http.StatusNotModified)
		newCompressor().Response("GET", accepting("gzip", "If-None-Match", tt.known), r)
		if got, want := r.Fields, httpmessage.NewFields("ETag", tt.want, "Vary", "Accept", "Vary",
			"Accept-Encoding"); !equal(got, want) {
			t.Errorf("%s: %v", tt.known, got)
		}
	}
}

func TestStrengthenIfMatch(t *testing.T) {
	t.Parallel()
	c := newCompressor()
	for _, tt := range []struct{ before, want string }{
		{`W/"a"`, `W/"a", "a"`},
		{`W/"a", "a"`, `W/"a", "a"`},
		{`"b", W/"W/"`, `"b", W/"W/", "W/"`},
		{`*`, `*`},
		{`W/"a`, `W/"a`},
	} {
		fields := httpmessage.NewFields("If-Match", tt.before)
		if c.StrengthenIfMatch(&fields); fields.List("If-Match") != tt.want {
			t.Errorf("%s: %v", tt.before, fields)
		}
		fields = httpmessage.NewFields("If-Match", tt.before, "Cookie", "a=b")
		if c.StrengthenIfMatch(&fields); fields.List("If-Match") != tt.before {
			t.Errorf("%s with a cookie: %v", tt.before, fields)
		}
	}
}

// TestFlush requires that the available bytes of a body of unknown length are sent immediately.
func TestFlush(t *testing.T) {
	t.Parallel()
	c := newCompressor()
	for _, coding := range all {
		source, w := io.Pipe()
		r := response("", "Content-Type", "text/plain")
		r.Body, r.ContentLength = source, -1
		c.Response("GET", accepting(coding), r)
		go func() { _, _ = io.WriteString(w, "first") }()
		d := decoder(t, coding, r.Body)
		first := make([]byte, len("first"))
		if _, err := io.ReadFull(d, first); err != nil || string(first) != "first" {
			t.Errorf("%s: %q, %v", coding, first, err)
		}
		go func() {
			_, _ = io.WriteString(w, " second")
			_ = w.Close()
		}()
		if rest, err := io.ReadAll(d); err != nil || string(rest) != " second" {
			t.Errorf("%s: %q, %v", coding, rest, err)
		}
		_ = r.Body.Close()
	}
}

// TestBrokenBody requires that a truncated body does not look complete.
func TestBrokenBody(t *testing.T) {
	t.Parallel()
	c, broken := newCompressor(), errors.New("on purpose")
	for _, coding := range all {
		r := response(page, "Content-Type", "text/plain")
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader(page), iotest.ErrReader(broken)))
		c.Response("GET", accepting(coding), r)
		if _, err := io.Copy(io.Discard, r.Body); !errors.Is(err, broken) {
			t.Errorf("%s: %v", coding, err)
		}
		_ = r.Body.Close()
		r = response(page, "Content-Type", "text/plain")
		r.ContentLength++
		c.Response("GET", accepting(coding), r)
		if _, err := io.Copy(io.Discard, r.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s, too short: %v", coding, err)
		}
		_ = r.Body.Close()
	}
}

// TestCloseWhileReading requires that Close unblocks a Read.
func TestCloseWhileReading(t *testing.T) {
	t.Parallel()
	source, _ := io.Pipe()
	r := response("", "Content-Type", "text/plain")
	r.Body, r.ContentLength = source, -1
	newCompressor().Response("GET", accepting("gzip"), r)
	done := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, r.Body)
		done <- err
	}()
	_ = r.Body.Close()
	if err := <-done; err == nil {
		t.Error("a closed body is read to its end")
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	c := newCompressor()
	accepts := func(fields ...string) httpmessage.Header {
		return httpmessage.NewFields(append(fields, "Accept-Encoding", "gzip, br")...).Values
	}
	for _, tt := range []struct {
		name    string
		request httpmessage.Header
		status  int
		kind    string
		size    int
		coding  string
		varies  bool
	}{
		{"page", accepts(), 200, "text/html", 2000, "br", true},
		{"problem", accepts(), 404, "application/json", 2000, "br", true},
		{"cookie", accepts("Cookie", "a=b"), 200, "text/html", 2000, "", true},
		{"no coding", nil, 200, "text/html", 2000, "", true},
		{"small", accepts(), 200, "text/html", 1000, "", false},
		{"redirect", accepts(), 302, "text/html", 2000, "", false},
		{"image", accepts(), 200, "image/png", 2000, "", false},
	} {
		if coding, varies := c.Document(tt.request, tt.status, tt.kind, tt.size); coding != tt.coding ||
			varies != tt.varies {
			t.Errorf("%s: %q, %t", tt.name, coding, varies)
		}
	}
	if coding, varies := (*compress.Compressor)(nil).Document(accepts(), 200, "text/html", 2000); coding != "" ||
		varies {
		t.Error("nil compresses")
	}
	for _, coding := range all {
		body, ok := c.Compress(coding, []byte(page))
		if got := decoded(t, coding, bytes.NewReader(body)); !ok || got != page {
			t.Errorf("%s: %t, %d bytes", coding, ok, len(got))
		}
		if _, ok := c.Compress(coding, []byte("x")); ok {
			t.Errorf("%s makes one byte smaller", coding)
		}
	}
}
