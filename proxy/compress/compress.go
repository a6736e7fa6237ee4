// Package compress compresses responses with the content codings gzip, br and zstd: RFC 9110 sections 8.4 and
// 12.5.3. The Accept-Encoding of a request enters, and the negotiated coding leaves; a response enters, and
// leaves with an encoded body and adjusted header fields (Content-Encoding, Vary, ETag). It also canonicalizes
// Accept-Encoding for the cache key, and the entity tags of conditional requests (RFC 9110 section 13.1).
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
	// Codings are content codings in order of preference: Zstd, Brotli, Gzip; others are ignored.
	Codings []string
	// Types are the compressible media types, as in httpmessage.HasType.
	Types []string
	// WithCredentials also compresses responses to requests with Cookie or Authorization. If such a response
	// has a secret next to content that an attacker can make the browser send, its compressed size reveals the
	// secret (BREACH).
	WithCredentials bool
	// Compressed is called with the coding and the sizes in bytes before and after compression. It must be safe
	// for concurrent use; nil is allowed.
	Compressed func(coding string, in, out int)
}

// The content codings: RFC 1952, RFC 7932 and RFC 8878.
const (
	Gzip   = "gzip"
	Brotli = "br"
	Zstd   = "zstd"
)

// minSize is the minimum size in bytes of compressed content: smaller content fits into one packet anyway.
const minSize = 1 << 10

// Compressor compresses responses. A nil Compressor compresses nothing, and costs nothing. It is safe for
// concurrent use.
type Compressor struct {
	codings []string
	types   []string
	withAll bool // Config.WithCredentials
	coders  [known]coder
	// results of NormalizeAcceptEncoding by the set of accepted codings, if none is chosen
	accepted [1 << known][]string
	chosen   [known][]string // results of NormalizeAcceptEncoding by the chosen coding
}

// New returns a Compressor, nil if there are no known codings.
func New(config Config) *Compressor {
	c := &Compressor{types: config.Types, withAll: config.WithCredentials}
	counted := config.Compressed
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

// Document negotiates the coding of one of urnd's own documents, "" for none. varies is true if it depends on
// Accept-Encoding. size is the size of the content in bytes.
func (c *Compressor) Document(
	request httpmessage.Header, status int, contentType string, size int,
) (coding string, varies bool) {
	if c == nil || size < minSize || !hasContent(status) || !c.hasType(contentType) {
		return "", false
	}
	if !c.withAll && hasCredentials(request) {
		return "", true
	}
	return Negotiate(request.Values(acceptEncoding), c.codings), true
}

// Response compresses the response of an origin in place, or only sets Vary if it could have been compressed for
// another request. The Accept-Encoding of the request must be a result of NormalizeAcceptEncoding. A response that the
// origin has compressed stays unchanged, except for Vary, which some origins omit.
func (c *Compressor) Response(method string, request httpmessage.Fields, r *httpmessage.Response) {
	coding := ""
	if lines := request.Values(acceptEncoding); len(lines) == 1 && slices.Contains(c.codings, lines[0]) {
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
	SetCoding(&r.Fields, coding)
	if method != http.MethodHead {
		r.Body = c.newReader(coding, r.Body, r.ContentLength)
	}
	r.ContentLength, r.Trailer = -1, nil // trailers may have digests of the unencoded content
}

// varies reports whether a response of an origin is compressible, so that it depends on Accept-Encoding.
func (c *Compressor) varies(method string, r *httpmessage.Response) bool {
	length := r.ContentLength
	if method == http.MethodHead { // HEAD describes the response to GET: RFC 9110 section 9.3.2
		length = -1
		if n, err := strconv.ParseInt(r.Fields.Get("Content-Length"), 10, 64); err == nil {
			length = n
		}
	}
	switch {
	case r.Status == http.StatusPartialContent: // a part of a response that may be compressible
	case !hasContent(r.Status), r.Fields.Has("Content-Range"), length >= 0 && length < minSize, r.Body == http.NoBody &&
		method != http.MethodHead:
		return false
	}
	// RFC 9111 section 5.2.2.6.
	return c.hasType(r.Fields.Get("Content-Type")) &&
		!cachecontrol.Parse(r.Fields.Values("Cache-Control")).Has("no-transform")
}

// hasContent reports whether responses with a status have content that is a complete representation.
func hasContent(status int) bool {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent, http.StatusIMUsed:
		return false
	default:
		return status/100 == 2 || status/100 >= 4
	}
}

// hasType reports whether a media type is compressed. Event streams are excluded: events are sent one by one,
// and are small.
func (c *Compressor) hasType(contentType string) bool {
	return httpmessage.HasType(contentType, c.types) && !httpmessage.HasType(contentType, []string{"text/event-stream"})
}

// hasCredentials reports whether a request has credentials, so that its response may contain secrets of the
// user.
func hasCredentials(request httpmessage.Header) bool {
	return request.Has("Cookie") || request.Has("Authorization")
}

// isOfForm reports whether a field depends on the encoded bytes of the content: its ranges, and its digests
// (RFC 9530 sections 2 and 3, RFC 3230).
func isOfForm(f httpmessage.Field) bool {
	return f.HasName("Accept-Ranges") || f.HasName("Content-Digest") || f.HasName("Repr-Digest") ||
		f.HasName("Digest") || f.HasName("Content-MD5")
}

// SetCoding changes the header fields of a response to those of its encoded form. The entity tag becomes weak,
// because that form is not byte-for-byte identical (RFC 9110 section 8.8.3.3).
func SetCoding(fields *httpmessage.Fields, coding string) {
	*fields = slices.DeleteFunc(*fields,
		func(f httpmessage.Field) bool { return f.HasName("Content-Length") || isOfForm(f) })
	fields.Set("Content-Encoding", coding)
	Weaken(fields)
}

// Weaken makes the entity tag of a response weak, if it has one.
func Weaken(fields *httpmessage.Fields) {
	if etag := fields.Get("ETag"); strings.HasPrefix(etag, `"`) {
		fields.Set("ETag", "W/"+etag)
	}
}

// AddVary adds Accept-Encoding to Vary: RFC 9110 section 12.5.5.
func AddVary(fields *httpmessage.Fields) {
	lines := fields.Values("Vary")
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if member = strings.TrimSpace(member); member == "*" || strings.EqualFold(member, acceptEncoding) {
				return
			}
		}
	}
	fields.Add("Vary", acceptEncoding)
}

// notModified adjusts a 304 of an origin, which knows nothing of encoded forms, so that it applies to them as
// well: caches and clients update stored responses by it (RFC 9111 section 3.2).
func notModified(request httpmessage.Fields, r *httpmessage.Response) {
	etag := r.Fields.Get("ETag")
	r.Fields = slices.DeleteFunc(r.Fields,
		func(f httpmessage.Field) bool { return f.HasName("Content-Encoding") || isOfForm(f) })
	if r.Fields.Has("Vary") {
		AddVary(&r.Fields)
	}
	if tags := request.List("If-None-Match"); strings.HasPrefix(etag, `"`) && hasTag(tags, "W/"+etag) &&
		!hasTag(tags, etag) {
		Weaken(&r.Fields)
	}
}
