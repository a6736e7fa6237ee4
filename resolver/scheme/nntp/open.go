package nntp

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// openArticle requests the article of the target. It returns the message-id with angle brackets, "" if the
// server does not send it, and the source of the article.
func (x exchange) openArticle() (id string, byteCount *block, err error) {
	command := "ARTICLE <" + x.target.messageID + ">"
	if x.target.number != "" {
		if _, err := x.selectGroup(); err != nil {
			return "", nil, err
		}
		command = "ARTICLE " + x.target.number
	}
	r, err := x.client.command(command)
	if err != nil {
		return "", nil, err
	}
	if r.code != codeArticle {
		return "", nil, r.refusal(x.server)
	}
	// The reply is "number message-id": RFC 3977 section 6.2.1.
	if words := strings.Fields(r.text); len(words) > 1 {
		id = words[1]
	}
	if x.target.messageID != "" {
		id = "<" + x.target.messageID + ">"
	}
	return id, x.client.newBlock(), nil
}

// stream returns a streamed response with bytes of an article. The timeout applies to each read.
func (x exchange) stream(id string, body io.Reader, fields httpmessage.Fields) *scheme.Resource {
	sum := sha256.Sum256([]byte(id + x.target.query.String()))
	const enough = 12
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:enough]) + `"`
	fields.Set("X-Content-Type-Options", "nosniff")
	if id != "" { // "" if the server does not send it
		fields.Set("Etag", etag)
		if instead := scheme.Precondition(x.request.Fields, fields, etag, time.Time{}); instead != nil {
			return instead
		}
	}
	resource := &scheme.Resource{Response: httpmessage.Response{
		Status: http.StatusOK, Fields: fields,
		Body: http.NoBody, ContentLength: -1,
	}}
	if x.request.Method != http.MethodHead {
		resource.Body = &stream{body: body, exchange: x}
	}
	return resource
}

// stream is a body that is read from the connection.
type stream struct {
	exchange

	body   io.Reader
	reads  sync.Mutex // held by a Read
	ends   sync.Once
	closed bool
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	s.reads.Lock()
	defer s.reads.Unlock()
	if s.closed { // the connection may be in use by another request
		return 0, fmt.Errorf("reading an article: %w", net.ErrClosed)
	}
	n, err := s.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		if ended := s.client.ended(); ended != nil {
			err = ended
		}
		err = fmt.Errorf("reading an article: %w", err)
	}
	return n, err
}

// Close puts the connection into the pool if the article was read completely, and otherwise closes it. It
// unblocks a concurrent Read.
func (s *stream) Close() error {
	s.ends.Do(func() {
		if !s.reads.TryLock() {
			s.client.close()
			return
		}
		defer s.reads.Unlock()
		s.closed = true
		s.giveBack(s.client)
	})
	return nil
}

// source returns the unchanged source of the article.
func (x exchange) source() (*scheme.Resource, error) {
	id, byteCount, err := x.openArticle()
	if err != nil {
		return nil, err
	}
	x.client.streams = true
	return x.stream(id, byteCount,
		httpmessage.NewFields("Content-Type", "message/rfc822", "Content-Disposition",
			`attachment; filename="article.eml"`)), nil
}
