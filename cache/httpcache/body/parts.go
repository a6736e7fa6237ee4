package body

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/textproto"

	"github.com/urnd/urnd/cache/httpcache/rules"
)

// parts are several ranges of a content, as multipart/byteranges: RFC 9110 section 14.6.
type parts struct {
	heads    [][]byte // before each range
	contents []Content
	end      []byte
}

// OpenParts opens several ranges of a representation of a length, whose bytes from offset on are in c. It
// returns their multipart boundary and total length.
func OpenParts(
	ctx context.Context, c Body, offset, length int64, spans []rules.Span, contentType []string,
) (opened Content, boundary string, size int64, err error) {
	var p parts
	var buffer bytes.Buffer
	w := multipart.NewWriter(&buffer)
	cut := func() []byte {
		head := bytes.Clone(buffer.Bytes())
		buffer.Reset()
		size += int64(len(head))
		return head
	}
	for _, part := range spans {
		head := textproto.MIMEHeader{"Content-Range": {string(rules.AppendContentRange(nil, part, length))}}
		if len(contentType) > 0 {
			head["Content-Type"] = contentType
		}
		if _, err := w.CreatePart(head); err != nil {
			p.Close()
			return nil, "", 0, err
		}
		content, err := c.Open(ctx, rules.Span{Start: part.Start - offset, End: part.End - offset})
		if err != nil {
			p.Close()
			return nil, "", 0, err
		}
		p.heads, p.contents = append(p.heads, cut()), append(p.contents, content)
		size += part.Length()
	}
	_ = w.Close() // a bytes.Buffer does not fail
	p.end = cut()
	return &p, w.Boundary(), size, nil
}

// SendTo implements Content.
func (p *parts) SendTo(w io.Writer, flush func()) error {
	for i, head := range p.heads {
		if _, err := w.Write(head); err != nil {
			return err
		}
		if err := p.contents[i].SendTo(w, flush); err != nil {
			return err
		}
	}
	_, err := w.Write(p.end)
	return err
}

// Close implements Content.
func (p *parts) Close() {
	for _, content := range p.contents {
		content.Close()
	}
}
