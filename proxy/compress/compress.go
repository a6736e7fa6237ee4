// Package compress compresses responses for clients that accept that: RFC 9110 sections 8.4 and 12.5.3. It decides which coding a request
// gets and which responses are compressed, and changes the fields of those that are.
package compress

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Config configures a Compressor.
type Config struct {
	// Codings are content codings in the order of preference, Zstd, Brotli and Gzip; others are ignored.
	Codings []string
	// Types are the media types of what is compressed, as httpmessage.HasType has them.
	Types []string
	// WithCredentials is whether responses to requests with Cookie or Authorization are compressed, too. Where they have a secret of the
	// user beside what others can make the user's browser request, their size gives the secret away (BREACH).
	WithCredentials bool
	// Counted is called with the coding of what was compressed, how many bytes that were, and to how many. It must be safe for concurrent
	// use; nil is not called.
	Counted func(coding string, in, out int)
}

// The codings: RFC 1952, RFC 7932 and RFC 8878.
const (
	Gzip   = "gzip"
	Brotli = "br"
	Zstd   = "zstd"
)

// minSize is the least size of what is compressed, in bytes: smaller content takes one packet in any form.
const minSize = 1 << 10

// Compressor compresses responses. nil is one that compresses none, and costs nothing. It is safe for concurrent use.
type Compressor struct {
	codings  []string
	types    []string
	withAll  bool // Config.WithCredentials
	coders   [known]coder
	accepted [1 << known][]string // what Selecting returns for the codings that a client accepts, where none is chosen
	chosen   [known][]string      // what it returns for the one that is chosen
}

// New returns a Compressor, nil where there are no codings.
func New(config Config) *Compressor {
	c := &Compressor{types: config.Types, withAll: config.WithCredentials}
	counted := config.Counted
	if counted == nil {
		counted = func(string, int, int) {}
	}
	for _, coding := range config.Codings {
		if indexOf(coding) >= 0 && !slices.Contains(c.codings, coding) {
			c.codings = append(c.codings, coding)
		}
	}
	if len(c.codings) == 0 {
		return nil
	}
	for set := range c.accepted {
		c.accepted[set] = []string{normalOf(set)}
	}
	for i, coding := range names() {
		c.chosen[i] = []string{coding}
		c.coders[i].make = encoderOf(coding)
		c.coders[i].counted = func(in, out int) { counted(coding, in, out) }
	}
	return c
}

// Document returns the coding of one of urnd's own documents for a request, "" for none, and whether that is chosen by Accept-Encoding.
// size is that of its content, in bytes.
func (c *Compressor) Document(request httpmessage.Lines, status int, contentType string, size int) (coding string, varies bool) {
	if c == nil || size < minSize || !hasContent(status) || !c.hasType(contentType) {
		return "", false
	}
	if !c.withAll && hasCredentials(request) {
		return "", true
	}
	return Negotiate(request.Of(acceptEncoding), c.codings), true
}

// Response compresses a response of an origin to a request with a method and fields whose Accept-Encoding is one that Selecting has
// returned, or makes it say that it could have been compressed. Its fields are changed, and its body is replaced. It does nothing to what
// the origin has compressed, but for Vary, which some origins forget.
func (c *Compressor) Response(method string, request httpmessage.Fields, r *httpmessage.Response) {
	coding := ""
	if lines := request.Lines(acceptEncoding); len(lines) == 1 && slices.Contains(c.codings, lines[0]) {
		coding = lines[0]
	}
	switch {
	case r.Status == http.StatusNotModified:
		notModified(request, r)
		return
	case r.Fields.Has("Content-Encoding"):
		AddVary(&r.Fields)
		return
	case !c.varies(method, r):
		return
	}
	AddVary(&r.Fields)
	if coding == "" || r.Status == http.StatusPartialContent || request.Has("Range") {
		return
	}
	Describe(&r.Fields, coding)
	if method != http.MethodHead {
		r.Body = c.newReader(coding, r.Body, r.ContentLength)
	}
	r.ContentLength, r.Trailer = -1, nil // it may have digests of the content as it was
}

// varies reports whether a response of an origin is of a kind that is compressed.
func (c *Compressor) varies(method string, r *httpmessage.Response) bool {
	length := r.ContentLength
	if method == http.MethodHead { // it says what GET would get: RFC 9110 section 9.3.2
		length = -1
		if n, err := strconv.ParseInt(r.Fields.Value("Content-Length"), 10, 64); err == nil {
			length = n
		}
	}
	switch {
	case r.Status == http.StatusPartialContent: // of one that would be compressed
	case !hasContent(r.Status), r.Fields.Has("Content-Range"), length >= 0 && length < minSize, r.Body == http.NoBody && method != http.MethodHead:
		return false
	}
	// RFC 9111 section 5.2.2.6.
	return c.hasType(r.Fields.Value("Content-Type")) && !cachecontrol.Parse(r.Fields.Lines("Cache-Control")).Has("no-transform")
}

// hasContent reports whether responses with a status have a content, all of a representation.
func hasContent(status int) bool {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent, http.StatusIMUsed:
		return false
	default:
		return status/100 == 2 || status/100 >= 4
	}
}

// hasType reports whether content of a type is compressed: not that of events, which are sent one by one, and are small.
func (c *Compressor) hasType(contentType string) bool {
	return httpmessage.HasType(contentType, c.types) && !httpmessage.HasType(contentType, []string{"text/event-stream"})
}

// hasCredentials reports whether a request says who its user is, so that the response may have secrets of the user.
func hasCredentials(request httpmessage.Lines) bool {
	return request.Has("Cookie") || request.Has("Authorization")
}

// isOfForm reports whether a field is about the bytes of one form of a content: its ranges, and its digests (RFC 9530 sections 2 and 3, RFC
// 3230).
func isOfForm(f httpmessage.Field) bool {
	return f.Is("Accept-Ranges") || f.Is("Content-Digest") || f.Is("Repr-Digest") || f.Is("Digest") || f.Is("Content-MD5")
}

// Describe makes fields of a response those of its compressed form. Its entity tag becomes weak, as that form is not the same byte by byte
// (RFC 9110 section 8.8.3.3).
func Describe(fields *httpmessage.Fields, coding string) {
	*fields = slices.DeleteFunc(*fields, func(f httpmessage.Field) bool { return f.Is("Content-Length") || isOfForm(f) })
	fields.Set("Content-Encoding", coding)
	Weaken(fields)
}

// Weaken makes the entity tag of a response weak, if it has one.
func Weaken(fields *httpmessage.Fields) {
	if etag := fields.Value("ETag"); strings.HasPrefix(etag, `"`) {
		fields.Set("ETag", "W/"+etag)
	}
}

// AddVary makes fields say that the response was chosen by Accept-Encoding: RFC 9110 section 12.5.5.
func AddVary(fields *httpmessage.Fields) {
	lines := fields.Lines("Vary")
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if member = strings.TrimSpace(member); member == "*" || strings.EqualFold(member, acceptEncoding) {
				return
			}
		}
	}
	fields.Add("Vary", acceptEncoding)
}

// notModified makes a 304 of an origin, which knows nothing of compressed forms, one that is right for them as well: a cache and a client
// update by it what they have stored (RFC 9111 section 3.2).
func notModified(request httpmessage.Fields, r *httpmessage.Response) {
	etag := r.Fields.Value("ETag")
	r.Fields = slices.DeleteFunc(r.Fields, func(f httpmessage.Field) bool { return f.Is("Content-Encoding") || isOfForm(f) })
	if r.Fields.Has("Vary") {
		AddVary(&r.Fields)
	}
	if tags := request.List("If-None-Match"); strings.HasPrefix(etag, `"`) && hasTag(tags, "W/"+etag) && !hasTag(tags, etag) {
		Weaken(&r.Fields)
	}
}
