package httpcache

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/textproto"
)

// parts are several ranges of a content, as multipart/byteranges: RFC 9110 section 14.6.
type parts struct {
	heads    [][]byte // before each range
	contents []Content
	end      []byte
}

// openParts gives an answer several ranges of the stored content.
func (x *exchange) openParts(ctx context.Context, a *Answer, s *stored, spans []span) error {
	var p parts
	var buffer bytes.Buffer
	w := multipart.NewWriter(&buffer)
	cut := func() []byte {
		head := bytes.Clone(buffer.Bytes())
		buffer.Reset()
		return head
	}
	a.ContentLength = 0
	for _, part := range spans {
		head := textproto.MIMEHeader{"Content-Range": {contentRangeOf(part, s.length)}}
		if kind := s.header.Lines("Content-Type"); len(kind) > 0 {
			head["Content-Type"] = kind
		}
		if _, err := w.CreatePart(head); err != nil {
			return err
		}
		content, err := s.content.open(ctx, span{part.start - s.part.start, part.end - s.part.start})
		if err != nil {
			p.Close()
			return err
		}
		p.heads, p.contents = append(p.heads, cut()), append(p.contents, content)
		a.ContentLength += int64(len(p.heads[len(p.heads)-1])) + part.length()
	}
	_ = w.Close() // a buffer does not fail
	p.end = cut()
	a.ContentLength += int64(len(p.end))
	a.Content = &p
	a.Added.Add("Content-Type", "multipart/byteranges; boundary="+w.Boundary())
	return nil
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
