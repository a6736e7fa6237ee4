package browse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// A sitemap (sitemaps.org, version 0.9) is an index at /sitemap.xml, and files in the same directory, because
// a file may only list URLs in its own directory and below. The file name encodes the part of the file, the
// names after one name up to another, so that several urnds on one store can serve each other's files.

// Limits of a file, by the protocol.
const (
	maxFileURLs  = 50_000
	maxFileBytes = 50 << 20
	maxURL       = 2047 // bytes
	filePage     = 1000 // names in one batch
)

const (
	sitemapHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	sitemapXMLN = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
)

// between separates the two names in a file name: it is not in the alphabet of base64url (RFC 4648 section
// 5).
const between = "~"

// file returns the file name of a part.
func (s span) file() string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(s.after)) + between + encode([]byte(s.upto))
}

// spanOf decodes the part in a file name. The error is resolver.ErrCursor.
func spanOf(file string) (s span, err error) {
	after, upto, ok := strings.Cut(file, between)
	if !ok {
		return s, resolver.ErrCursor
	}
	for _, end := range [...]struct {
		encoded string
		name    *string
	}{{after, &s.after}, {upto, &s.upto}} {
		name, err := base64.RawURLEncoding.Strict().DecodeString(end.encoded)
		if err != nil || registry.CheckKey(string(name)) != nil || len(name) > 0 && !bytes.ContainsRune(name, ':') {
			return s, resolver.ErrCursor
		}
		*end.name = string(name)
	}
	if s.upto != "" && s.upto <= s.after {
		return s, resolver.ErrCursor
	}
	return s, nil
}

// Index returns the index of a sitemap. During the first computation of the parts it has the files that are
// known.
func (b *Browser) Index(ctx context.Context) ([]byte, error) {
	all, err := b.spans(ctx)
	if err != nil {
		return nil, err
	}
	var w bytes.Buffer
	w.WriteString(sitemapHead + "<sitemapindex" + sitemapXMLN)
	for _, s := range all {
		w.WriteString("<sitemap><loc>")
		_ = xml.EscapeText(&w, []byte(b.config.BaseURL+"/sitemap-"+s.file()+".xml")) // a buffer never fails
		w.WriteString("</loc></sitemap>\n")
	}
	w.WriteString("</sitemapindex>\n")
	return w.Bytes(), nil
}

// File returns a function that writes a sitemap file, and one that releases the client's permit, which must
// be called once unless there is an error. The error is resolver.ErrCursor if the file name is invalid.
func (b *Browser) File(
	ctx context.Context, file string, client netip.Addr,
) (write func(io.Writer) error, release func(), err error) {
	s, err := spanOf(file)
	if err != nil {
		return nil, nil, err
	}
	permit, err := b.acquire(ctx, b.config.FileLimit, client)
	if err != nil {
		return nil, nil, err
	}
	first, err := b.entriesAfter(ctx, s.after)
	if err != nil {
		permit.Release()
		return nil, nil, err
	}
	return func(w io.Writer) error { return b.writeFile(ctx, w, s, first) }, permit.Release, nil
}

// entriesAfter returns the next entries after a name.
func (b *Browser) entriesAfter(ctx context.Context, after string) ([]registry.Entry, error) {
	entries, err := b.config.Registry.List(ctx, registry.KindName, "", after, filePage)
	if err != nil {
		return nil, unavailable(err)
	}
	return entries, nil
}

// writeFile writes the file of a part. page has its first entries.
func (b *Browser) writeFile(ctx context.Context, to io.Writer, s span, page []registry.Entry) error {
	w := bufio.NewWriterSize(to, 32<<10)
	left, room := maxFileURLs, maxFileBytes
	write := func(text string) { room -= len(text); _, _ = w.WriteString(text) } // Flush returns the error
	write(sitemapHead + "<urlset" + sitemapXMLN)
	var one bytes.Buffer
	for {
		for i := range page {
			e := &page[i]
			if s.upto != "" && e.Name > s.upto || left == 0 {
				page = nil
				break
			}
			if !b.appendURL(&one, e) {
				continue
			}
			const end = len("</urlset>\n")
			if one.Len() > room-end {
				page = nil
				break
			}
			left--
			room -= one.Len()
			if _, err := w.Write(one.Bytes()); err != nil {
				return err
			}
		}
		if len(page) < filePage {
			break
		}
		var err error
		if page, err = b.entriesAfter(ctx, page[len(page)-1].Name); err != nil {
			return err
		}
	}
	write("</urlset>\n")
	return w.Flush()
}

// appendURL sets one to the XML element of a name. It returns false if the name is not public, or its URL too
// long.
func (b *Browser) appendURL(one *bytes.Buffer, e *registry.Entry) bool {
	if !e.Public() {
		return false
	}
	address := b.config.PageURL(b.config.BaseURL, e.Name)
	if len(address) > maxURL {
		return false
	}
	one.Reset()
	one.WriteString("<url><loc>")
	_ = xml.EscapeText(one, []byte(address))
	one.WriteString("</loc><lastmod>")
	one.WriteString(e.Changed.UTC().Format(time.DateOnly))
	one.WriteString("</lastmod></url>\n")
	return true
}
