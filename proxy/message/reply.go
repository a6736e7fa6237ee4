// Package message holds replies as values, and the fields by which proxies know each other. Its functions are pure, except Write
// and Abort.
package message

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
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
	Header http.Header // all other fields; nil for none
	Body   []byte      // the complete body; HEAD gets its length
	// Stream writes a body that is not known in advance, except for HEAD. An error aborts the
	// connection, so that no client takes the part for the complete body.
	Stream func(w http.ResponseWriter) error
	// Close is called by Write at its end; nil is not called.
	Close func()
	// Cache is the state of the cache of answers, Failure an error that the reply describes, and
	// Record what the registry of the site has of the name, nil for nothing: for observers.
	Cache   resolver.CacheState
	Failure error
	Record  *resolver.Record
}

// Values of fields that are shared by all responses, and never written to.
var (
	noSniff = []string{"nosniff"}
	policy  = []string{pagePolicy}
)

// pagePolicy is the Content-Security-Policy of urnd's own documents that are no Page: no frame of another site leads a person to
// click in them, and the note of a redirect has no style.
const pagePolicy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'"

// Write sends a reply, for HEAD without its body, and with the header fields that are set
// in w already. For a cached redirect it makes one allocation.
func Write(w http.ResponseWriter, method string, r Reply) {
	if r.Close != nil {
		defer r.Close()
	}
	r.setFields(w.Header())
	w.WriteHeader(r.Status)
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
	etag := r.Header.Get("Etag")
	status := httpmessage.Precondition(lines, etag, time.Time{})
	if status == http.StatusNotModified && etag == "" {
		return 0
	}
	return status
}

// NotModified returns the response 304 in place of a document: RFC 9110 section 15.4.5.
func (r Reply) NotModified() Reply {
	r.Status, r.ContentType, r.Body, r.Stream = http.StatusNotModified, "", nil, nil
	r.Header = r.Header.Clone()
	delete(r.Header, "Content-Encoding")
	return r
}

// setFields sets the fields of a reply, those that most replies have with one allocation.
func (r *Reply) setFields(header http.Header) {
	for name, lines := range r.Header {
		header[name] = lines
	}
	values := [...]string{r.Location, r.CacheControl, r.CacheStatus, r.ContentType, r.length(), r.Vary}
	for i, name := range [...]string{
		"Location", "Cache-Control", "Cache-Status", "Content-Type", "Content-Length", "Vary",
	} {
		if values[i] == "" {
			continue
		}
		if before := header[name]; name == "Vary" && len(before) > 0 { // of cross-origin requests
			header[name] = append(before[:len(before):len(before)], values[i])
			continue
		}
		header[name] = values[i : i+1 : i+1]
	}
	if r.ContentType != "" {
		setDefault(header, "X-Content-Type-Options", noSniff)
		setDefault(header, "Content-Security-Policy", policy)
	}
}

// length returns the Content-Length, which is not known of a stream.
func (r *Reply) length() string {
	if r.Stream != nil {
		return ""
	}
	return strconv.Itoa(len(r.Body))
}

func setDefault(header http.Header, name string, value []string) {
	if _, ok := header[name]; !ok {
		header[name] = value
	}
}

// Abort ends the connection in the middle of a response: one that is cut off at its source
// must not look complete. A writer may have a method EndEarly, which does so without a reset, and reports whether it has.
func Abort(w http.ResponseWriter) {
	if early, ok := w.(interface{ EndEarly() bool }); ok && early.EndEarly() {
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
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
