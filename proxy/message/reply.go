// Package message represents HTTP responses as values, and builds the header fields that urnd adds to messages.
// An answer or a document enters; a Reply leaves, which Write sends. Its functions are pure, except Write and
// Abort. The fields are those of RFC 9110, Cache-Status (RFC 9211), CDN-Cache-Control (RFC 9213), the tags of
// CDNs, Via, and Traceparent (W3C Trace Context).
package message

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// Reply is a response as a value, which Write sends. Header fields with an empty value are not sent. The zero
// value has no status, and must not be written.
type Reply struct {
	Status       int
	Location     string
	ContentType  string
	Vary         string
	CacheControl string
	CacheStatus  string // RFC 9211
	// SharedMaxAge is the freshness lifetime for caches that are purged on changes; 0 is that of all other caches.
	// WithCacheTags converts it to a header field.
	SharedMaxAge time.Duration
	Fields       httpmessage.Fields // all other header fields; nil for none
	Body         []byte             // complete body; HEAD gets its length
	// Stream writes a body of unknown length; it is not called for HEAD. An error aborts the response, so that
	// no client takes a truncated body for a complete one.
	Stream func(w Stream) error
	// Close is called at the end of Write; nil is allowed.
	Close func()
	// For observers: Cache is the state of the answer cache, Failure the error that the reply describes, and
	// Record the registry record of the name. Failure and Record may be nil.
	Cache   resolver.CacheState
	Failure error
	Record  *resolver.Record
}

// Stream is the destination of the body of a Reply.
type Stream interface {
	io.Writer
	// Flush sends the buffered bytes.
	Flush() error
}

// pagePolicy is the Content-Security-Policy of urnd's own documents other than a Page. It forbids frames of
// other sites, against clickjacking, and any style.
const pagePolicy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'"

// Write sends a reply, without its body for HEAD. scratch holds the buffers for the header section, nil for new
// ones.
func Write(w httpmessage.ResponseWriter, method string, r Reply, scratch *Scratch) {
	if r.Close != nil {
		defer r.Close()
	}
	if scratch == nil {
		scratch = new(Scratch)
	}
	scratch.Head = r.AppendFields(scratch.Head[:0], &scratch.Text)
	w.WriteHeader(r.Status, "", scratch.Head)
	switch {
	case method == http.MethodHead:
	case r.Stream == nil && len(r.Body) > 0:
		_, _ = w.Write(r.Body) // fails only if the client has disconnected
	case r.Stream != nil:
		if err := r.Stream(w); err != nil {
			Abort(w)
		}
	}
}

// Precondition evaluates the preconditions of a request for one of urnd's own documents. It returns the status
// 412 or 304, or 0 to continue. RFC 9110 section 13.2.1 exempts responses that are not representations. A
// document without an entity tag never leads to 304.
func (r *Reply) Precondition(method string, header httpmessage.Header) int {
	if r.Status != http.StatusOK || method != http.MethodGet && method != http.MethodHead {
		return 0
	}
	etag := r.Fields.Get("ETag")
	status := httpmessage.Precondition(header, etag, time.Time{})
	if status == http.StatusNotModified && etag == "" {
		return 0
	}
	return status
}

// NotModified returns the response 304 for a document: RFC 9110 section 15.4.5.
func (r Reply) NotModified() Reply {
	r.Status, r.ContentType, r.Body, r.Stream = http.StatusNotModified, "", nil, nil
	r.Fields = r.Fields.Clone()
	r.Fields.Del("Content-Encoding")
	return r
}

// AppendFields appends the header fields of the reply. The values are valid as long as those of text.
func (r *Reply) AppendFields(fields httpmessage.Fields, text *httpmessage.ValueBuffer) httpmessage.Fields {
	values := [...]string{r.Location, r.CacheControl, r.CacheStatus, r.ContentType, r.length(text), r.Vary}
	for i, name := range [...]string{
		"Location", "Cache-Control", "Cache-Status", "Content-Type",
		"Content-Length", "Vary",
	} {
		if values[i] != "" {
			fields = append(fields, httpmessage.Field{Name: name, Value: values[i]})
		}
	}
	fields = append(fields, r.Fields...)
	if r.ContentType != "" {
		fields = r.appendDefault(fields, "X-Content-Type-Options", "nosniff")
		fields = r.appendDefault(fields, "Content-Security-Policy", pagePolicy)
	}
	return fields
}

// length returns the Content-Length, "" for a stream.
func (r *Reply) length(text *httpmessage.ValueBuffer) string {
	if r.Stream != nil {
		return ""
	}
	return text.Int(int64(len(r.Body)))
}

// appendDefault appends a field, unless the reply has that field itself.
func (r *Reply) appendDefault(fields httpmessage.Fields, name, value string) httpmessage.Fields {
	if r.Fields.Has(name) {
		return fields
	}
	return append(fields, httpmessage.Field{Name: name, Value: value})
}

// Abort ends a response early, so that a truncated response does not look complete. If its framing shows the
// truncation, the client still gets the bytes written so far.
func Abort(w httpmessage.ResponseWriter) {
	if !w.Truncate() {
		w.Abort()
	}
}

// NoStore is the Cache-Control of replies that must not be stored.
const NoStore = "no-store"

// Document returns a reply with the freshness lifetime of its answer.
func Document(contentType string, body []byte, answer resolver.Answer) Reply {
	r := Reply{
		Status: http.StatusOK, ContentType: contentType, Body: body, Cache: answer.Cache, Record: answer.Record(),
		CacheControl: string(appendCacheControl(nil, answer.Lifetime())), SharedMaxAge: answer.SharedLifetime(),
	}
	if answer.Cache != resolver.Uncached {
		r.CacheStatus = CacheStatus(answer.Cache, answer.TTL)
	}
	return r
}

// JSON returns a reply of v that must not be stored.
func JSON(status int, v any) Reply {
	return Reply{Status: status, ContentType: "application/json", CacheControl: NoStore, Body: Marshal(v)}
}

// Marshal returns v as indented JSON, without escaping "&" and "<".
func Marshal(v any) []byte {
	return encode(v, "  ")
}

// MarshalLine returns v as JSON on one line, with a line end.
func MarshalLine(v any) []byte {
	return encode(v, "")
}

func encode(v any, indent string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return []byte("{}\n") // unreachable: all types can be encoded
	}
	return b.Bytes()
}
