package nntp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/emersion/go-message"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// maxHeader is the maximum size of the header of an article, and of each part, in bytes.
const maxHeader = 256 << 10

var errHeader = errors.New("header too long")

// errPart returns the error for a part that the article does not have.
func errPart() error {
	return scheme.PolicyDenial(http.StatusNotFound, "article_no_part", "no such part in the article")
}

// partBound limits what is read before a part: header is the limit of the current header, all that of all
// bytes.
type partBound struct {
	io.Reader
	header, all int64
}

// Read implements io.Reader.
func (b *partBound) Read(p []byte) (int, error) {
	if b.header <= 0 || b.all <= 0 {
		return 0, errHeader
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.header, b.all)])
	b.header -= int64(n)
	b.all -= int64(n)
	return n, err
}

// part returns a decoded part of the article, as an attachment for download: an HTML part must not be displayed
// with the origin of this server.
func (x exchange) part() (*scheme.Resource, error) {
	id, byteCount, err := x.openArticle()
	if err != nil {
		return nil, err
	}
	// One timeout covers everything before the part.
	var article io.Reader = byteCount
	if isEmbeddedNumber(x.target.query.Part) {
		resource, read, err := x.embedded(id, byteCount)
		if resource != nil || err != nil {
			return resource, err
		}
		article = io.MultiReader(bytes.NewReader(read), byteCount)
	}
	e, err := findPart(article, x.target.query.Part, x.config.Limits.Bytes)
	if err != nil {
		return nil, err
	}
	x.client.streams = true
	p := describePart(e, x.target.query.Part)
	return x.stream(id, e.Body,
		httpmessage.NewFields("Content-Type", p.contentType, "Content-Disposition", disposition(p.fileName()))), nil
}

// findPart reads an article up to the body of a part, which must start within about this number of bytes. The
// body has no limit.
func findPart(article io.Reader, number string, size int64) (*message.Entity, error) {
	bound := &partBound{article, maxHeader, size + maxHeader} // the last header may lie beyond them
	e, err := bound.find(number)
	if err != nil {
		if bound.all <= 0 {
			err = scheme.PolicyDenial(http.StatusBadGateway, "article_part_far",
				fmt.Sprintf("part begins after more than %d bytes; the source of the "+
					"article contains it", size), "Number", strconv.FormatInt(size, 10))
		}
		return nil, err
	}
	bound.header, bound.all = math.MaxInt64, math.MaxInt64
	return e, nil
}

// find is findPart within the limits.
func (b *partBound) find(number string) (*message.Entity, error) {
	e, err := readEntity(b)
	if err != nil {
		return nil, err
	}
	for i, text := range strings.Split(number, ".") {
		n, _ := strconv.Atoi(text) // package uri has parsed it
		parts := multipart(e)
		if parts == nil && i == 0 && n == 1 {
			break // the body of a single-part article: RFC 3501 section 6.4.5
		}
		if parts == nil {
			return nil, errPart()
		}
		for k := range n {
			b.header = maxHeader
			if e, err = nextPart(parts); err != nil {
				return nil, err
			}
			b.header = math.MaxInt64
			if k == n-1 {
				break
			}
			if _, err := io.Copy(io.Discard, e.Body); err != nil && !isEncoding(err) {
				return nil, err
			}
		}
	}
	if multipart(e) != nil {
		return nil, errPart()
	}
	return e, nil
}

// readEntity reads the header of an article. An unknown charset or encoding is not an error: the body is then
// undecoded.
func readEntity(r io.Reader) (*message.Entity, error) {
	e, err := message.ReadWithOptions(r, &message.ReadOptions{MaxHeaderBytes: maxHeader})
	if e != nil {
		return e, nil
	}
	return nil, headerFailure(err)
}

// nextPart is readEntity for the next part of a multipart body.
func nextPart(parts message.MultipartReader) (*message.Entity, error) {
	e, err := parts.NextPart()
	switch {
	case e != nil:
		return e, nil
	case errors.Is(err, io.EOF):
		return nil, errPart()
	}
	return nil, headerFailure(err)
}

// headerFailure returns the error for an unreadable header: that of the connection, or one about the article.
func headerFailure(err error) error {
	if isConnection(err) {
		return err
	}
	return scheme.PolicyDenial(http.StatusBadGateway, "article_malformed", "malformed article: "+err.Error())
}

// multipart returns a reader of the parts of an entity, nil if it has none.
func multipart(e *message.Entity) message.MultipartReader {
	if _, parameters, err := e.Header.ContentType(); err != nil || parameters["boundary"] == "" {
		return nil
	}
	return e.MultipartReader()
}

// disposition returns the value of Content-Disposition: RFC 6266.
func disposition(name string) string {
	if text := mime.FormatMediaType("attachment", map[string]string{"filename": name}); text != "" {
		return text
	}
	return "attachment"
}

// baseName returns a file name without directories, and without characters that could disguise its type.
func baseName(name string) string {
	name = path.Base(strings.ReplaceAll(scheme.DecodeText(name), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"<>:|?*`, r) || r == '\t' || r == '\uFFFD' {
			return '_'
		}
		return r
	}, name)
	const most = 120
	if runes := []rune(name); len(runes) > most { // keeps the extension, which is at the end
		name = string(runes[len(runes)-most:])
	}
	return strings.TrimLeft(name, ". /")
}
