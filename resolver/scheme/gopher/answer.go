package gopher

import (
	"context"
	"io"

	"github.com/urnd/urnd/resolver/scheme"
)

// answer is the response of a server, after its Gopher+ status line if there is one.
type answer struct {
	*conn
	data   io.Reader
	length int64 // bytes of data, or untilDot or untilClose
	isPlus bool
}

// open sends a request and reads the Gopher+ status line. The caller must end the answer.
func (h *Handler) open(ctx context.Context, r scheme.Request, q request) (*answer, error) {
	c, err := h.send(ctx, r, q)
	if err != nil {
		return nil, err
	}
	a := &answer{conn: c, data: c.in, length: untilClose}
	if q.Plus == "" {
		return a, nil
	}
	head, found, err := readPlusHead(c.in)
	if err != nil {
		c.end()
		return nil, c.wrapError("reading the response", err)
	}
	if !found {
		return a, nil
	}
	a.data, a.length, a.isPlus = head.data(c.in), head.length, true
	if head.success {
		return a, nil
	}
	defer c.end()
	return nil, a.failure()
}
