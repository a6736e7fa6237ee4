package wais

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// document returns the record that the target names.
func (s *session) document(t target, r scheme.Request) (*scheme.Resource, error) {
	count, err := s.find(t)
	if err != nil {
		return nil, err
	}
	position := max(t.position, 1)
	if position > count {
		return nil, scheme.PolicyDenial(http.StatusNotFound, "wais_no_record", "no such record")
	}
	elements := t.elements
	if elements == "" {
		elements = "F" // the full record: ISO 23950 section 3.6.2
	}
	records, err := s.present(position, 1, &wanted{elementSet: elements, syntaxes: t.as})
	if err != nil {
		return nil, err
	}
	found := records[0]
	if found.failed != nil {
		return nil, found.failed.refusal()
	}
	contentType, body := found.representation(t.asText)
	return serve(r, contentType, body), nil
}

// representation returns the record unchanged if it has a media type and asText is false, otherwise converted
// to text.
func (r record) representation(asText bool) (contentType string, body []byte) {
	if known, ok := lookupSyntax(r.syntax); ok && !asText && known.mediaType != "" && r.bytes != nil &&
		r.syntax != idSUTRS {
		return known.mediaType, r.bytes
	}
	return "text/plain; charset=utf-8", []byte(r.text())
}

// serve returns the response to a request for a document.
func serve(r scheme.Request, contentType string, body []byte) *scheme.Resource {
	sum := sha256.Sum256(body)
	const enough = 12
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:enough]) + `"`
	fields := httpmessage.NewFields("Content-Type", contentType, "Etag", etag, "Accept-Ranges", "bytes")
	if instead := scheme.Precondition(r.Fields, fields, etag, time.Time{}); instead != nil {
		return instead
	}
	status := http.StatusOK
	if part, ok := scheme.ParseRange(r, int64(len(body)), etag, time.Time{}); ok {
		status = part.Status(&fields, int64(len(body)))
		body = body[min(part.First, int64(len(body))):][:part.Length]
	}
	fields.Set("Content-Length", strconv.Itoa(len(body)))
	resource := &scheme.Resource{Response: httpmessage.Response{
		Status: status, Fields: fields,
		ContentLength: int64(len(body)),
	}}
	if r.Method == http.MethodHead {
		body = nil
	}
	// A copy, so that the body does not keep the whole message in memory.
	resource.Body = scheme.NewBytes(bytes.Clone(body))
	return resource
}
