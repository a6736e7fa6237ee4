// Package message holds replies as values, and the fields by which proxies know each other. Its functions are pure, except Write
// and Abort.
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

// Reply is a response as a value, which Write sends. Empty header fields are not sent. The
// zero value has no status, and must not be written.
type Reply struct {
	Status       int
	Location     string
	ContentType  string
	Vary         string
	CacheControl string
	CacheStatus  string // RFC 9211
	// Shared is how long caches may use it that are told of changes; 0 is as long as all others. Marked makes a field of it.
	Shared time.Duration
	Fields httpmessage.Fields // all others; nil for none
	Body   []byte             // the complete body; HEAD gets its length
	// Stream writes a body that is not known in advance, except for HEAD. An error aborts the response, so that no client takes the
	// part for the complete body.
	Stream func(w Stream) error
	// Close is called by Write at its end; nil is not called.
	Close func()
	// Cache is the state of the cache of answers, Failure an error that the reply describes, and
	// Record what the registry of the site has of the name, nil for nothing: for observers.
	Cache   resolver.CacheState
	Failure error
	Record  *resolver.Record
}

// Stream is where a Reply writes its body.
type Stream interface {
	io.Writer
	// Flush sends what was written.
	Flush() error
}

// pagePolicy is the Content-Security-Policy of urnd's own documents that are no Page: no frame of another site leads a person to
// click in them, and the note of a redirect has no style.
const pagePolicy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'"

// Write sends a reply, for HEAD without its body. scratch is memory for the fields of the head, nil for none.
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
		_, _ = w.Write(r.Body) // it fails only where the client left
	case r.Stream != nil:
		if err := r.Stream(w); err != nil {
			Abort(w)
		}
	}
}

// Precondition evaluates the conditions of a request for one of urnd's own documents, and returns the status of the response in place of
// it: 412 or 304; 0 for none. RFC 9110 section 13.2.1 exempts what is no representation. A document without an entity tag is never
// known to a client.
func (r *Reply) Precondition(method string, lines httpmessage.Lines) int {
	if r.Status != http.StatusOK || method != http.MethodGet && method != http.MethodHead {
		return 0
	}
	etag := r.Fields.Value("ETag")
	status := httpmessage.Precondition(lines, etag, time.Time{})
	if status == http.StatusNotModified && etag == "" {
		return 0
	}
	return status
}

// NotModified returns the response 304 in place of a document: RFC 9110 section 15.4.5.
func (r Reply) NotModified() Reply {
	r.Status, r.ContentType, r.Body, r.Stream = http.StatusNotModified, "", nil, nil
	r.Fields = r.Fields.Clone()
	r.Fields.Del("Content-Encoding")
	return r
}

// AppendFields appends the fields of the reply, with values that are valid as long as those of text.
func (r *Reply) AppendFields(fields httpmessage.Fields, text *httpmessage.Text) httpmessage.Fields {
	values := [...]string{r.Location, r.CacheControl, r.CacheStatus, r.ContentType, r.length(text), r.Vary}
	for i, name := range [...]string{"Location", "Cache-Control", "Cache-Status", "Content-Type", "Content-Length", "Vary"} {
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

// length returns the Content-Length, which is not known of a stream.
func (r *Reply) length(text *httpmessage.Text) string {
	if r.Stream != nil {
		return ""
	}
	return text.Int(int64(len(r.Body)))
}

// appendDefault appends a field, unless the reply has its own.
func (r *Reply) appendDefault(fields httpmessage.Fields, name, value string) httpmessage.Fields {
	if r.Fields.Has(name) {
		return fields
	}
	return append(fields, httpmessage.Field{Name: name, Value: value})
}

// Abort ends a response in its middle: one that is cut off at its source must not look complete. Where its framing shows that, the
// client gets what has come.
func Abort(w httpmessage.ResponseWriter) {
	if !w.EndEarly() {
		w.Abort()
	}
}

// NoStore is the Cache-Control of replies that must not be cached.
const NoStore = "no-store"

// Document returns a reply with the freshness lifetime of its answer.
func Document(contentType string, body []byte, answer resolver.Answer) Reply {
	r := Reply{
		Status: http.StatusOK, ContentType: contentType, Body: body, Cache: answer.Cache, Record: answer.Record(),
		CacheControl: string(appendCacheControl(nil, answer.Lifetime())), Shared: answer.SharedLifetime(),
	}
	if answer.Cache != resolver.Uncached {
		r.CacheStatus = CacheStatus(answer.Cache, answer.TTL)
	}
	return r
}

// JSON returns a reply of v, which no cache stores.
func JSON(status int, v any) Reply {
	return Reply{Status: status, ContentType: "application/json", CacheControl: NoStore, Body: Marshal(v)}
}

// Marshal returns v as indented JSON, in which "&" and "<" are not escaped.
func Marshal(v any) []byte {
	return encode(v, "  ")
}

// Line returns v as JSON on one line, with its line end.
func Line(v any) []byte {
	return encode(v, "")
}

func encode(v any, indent string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return []byte("{}\n") // none of our types can fail
	}
	return b.Bytes()
}
