package gopher

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// afterDot is the timeout after a line of a single dot: the server closes the connection, or sends bytes that
// show that the text has not ended.
const afterDot = 2 * time.Second

// document fetches a document, as opposed to a listing. HEAD also reads the first bytes, which alone show
// whether the document exists, and its type.
func (h *Handler) document(ctx context.Context, r scheme.Request, q request) (*scheme.Resource, error) {
	a, err := h.open(ctx, r, q)
	if err != nil {
		return movedOr(err)
	}
	resource, err := a.document(r, q)
	if err != nil || r.Method == http.MethodHead {
		a.end()
	}
	return resource, err
}

func (a *answer) document(r scheme.Request, q request) (*scheme.Resource, error) {
	if !a.isPlus {
		if err := a.begin(); err != nil {
			return nil, err
		}
		if endsByDot(q.Type) {
			a.data = &scheme.DotReader{In: a.in, More: func() (bool, error) { return a.moreWithin(afterDot) }}
		}
	}
	in := bufio.NewReaderSize(a.data, scheme.SniffLength)
	head, err := in.Peek(scheme.SniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, a.wrapError("reading the start of a document", err)
	}
	a.stream()
	resource := &scheme.Resource{
		Response: httpmessage.Response{
			Status: http.StatusOK, Fields: httpmessage.NewFields("Content-Type", contentType(q, a.isPlus, head)),
			Body: &body{in: in, answer: a}, ContentLength: max(a.length, -1), RemoteAddr: a.from(),
		},
	}
	if a.isPlus {
		if language := viewLanguage(q.Plus); language != "" {
			resource.Fields.Set("Content-Language", language)
		}
	}
	if r.Method == http.MethodHead {
		resource.Body = http.NoBody
	}
	return resource, nil
}

// begin waits for the first bytes of a plain gopher response, and returns a refusal if they are an error.
func (a *answer) begin() error {
	head, err := a.in.Peek(1)
	if err == nil && head[0] == typeError {
		head, err = a.in.Peek(a.in.Size())
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return a.wrapError("reading the start of a document", err)
	}
	if message, ok := errorLine(head, err != nil); ok {
		return scheme.UpstreamError(http.StatusNotFound, message)
	}
	return nil
}

// body is the stream of a document. Close may be called during a Read.
type body struct {
	in     io.Reader
	answer *answer
	err    error
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.in.Read(p)
	if err == nil {
		return n, nil
	}
	b.err = err
	if !errors.Is(err, io.EOF) {
		b.err = b.answer.wrapError("reading a document", err)
	}
	b.answer.end()
	return n, b.err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.answer.end()
	return nil
}
