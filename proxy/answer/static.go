package answer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
)

// Static is a document that does not change while urnd runs, with its validator and its compressed form. It
// is safe for concurrent use.
type Static struct {
	contentType string
	body        []byte
	compressed  func() []byte // by gzip, at the first use; nil if it is not smaller
	etag        string        // without quotes
	policy      string        // Content-Security-Policy; "" is the default
}

// Logo returns the logo of a site.
func Logo(l *pages.Logo) *Static {
	s := NewStatic(l.Type, l.Bytes)
	s.policy = pages.LogoPolicy
	return s
}

// NewStatic returns a Static.
func NewStatic(contentType string, body []byte) *Static {
	return &Static{
		contentType: contentType, body: body, etag: checksum(body),
		compressed: sync.OnceValue(func() []byte { return compressed(body) }),
	}
}

// checksum returns the hash of a document, for an entity tag.
func checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

func compressed(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(body); err != nil || w.Close() != nil || b.Len() >= len(body) {
		return nil
	}
	return b.Bytes()
}

// staticLifetime is the freshness lifetime of a Static: a new version of urnd may change it.
const staticLifetime = "max-age=3600"

// Reply returns the document for a request with these fields.
func (s *Static) Reply(header httpmessage.Header) message.Reply {
	r := message.Reply{
		Status: http.StatusOK, ContentType: s.contentType, Body: s.body, CacheControl: staticLifetime,
		Vary: "Accept-Encoding",
	}
	if s.policy != "" {
		r.Fields.Set("Content-Security-Policy", s.policy)
	}
	etag := s.etag
	if compress.Negotiate(header.Values("Accept-Encoding"), []string{compress.Gzip}) != "" {
		if smaller := s.compressed(); smaller != nil {
			r.Body, etag = smaller, s.etag+"-gzip"
			r.Fields.Set("Content-Encoding", "gzip")
		}
	}
	r.Fields.Set("ETag", `"`+etag+`"`)
	return r
}
