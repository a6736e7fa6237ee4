package nntp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"

	"github.com/emersion/go-message"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// maxParts is the maximum number of displayed leaf parts, maxEntities the maximum including multipart entities,
// and maxNesting the maximum depth.
const (
	maxParts    = 100
	maxEntities = 2 * maxParts
	maxNesting  = 8
)

// part is a leaf part of an article.
type part struct {
	number      string // part number as in uri.NewsQuery
	mediaType   string // in lower case
	contentType string // with the parameters that are kept
	name        string // file name; "" for none
	attached    bool   // has the disposition "attachment"
	text        string // of text/plain and text/html
	size        int64  // decoded size in bytes
}

// fileName returns a file name for download.
func (p part) fileName() string {
	if name := baseName(p.name); name != "" {
		return name
	}
	return "part-" + p.number + extension(p.mediaType)
}

// extension returns the file name extension of common types, "" for others.
func extension(mediaType string) string {
	switch mediaType {
	case "text/plain":
		return ".txt"
	case "text/html":
		return ".html"
	case "message/rfc822":
		return ".eml"
	case "image/jpeg":
		return ".jpg"
	case "image/png":
		return ".png"
	case "image/gif":
		return ".gif"
	case "application/pdf":
		return ".pdf"
	}
	return ""
}

// describePart returns the metadata of a part from its header.
func describePart(e *message.Entity, number string) part {
	const unknown = "application/octet-stream"
	p := part{number: number}
	mediaType, parameters, err := e.Header.ContentType()
	if p.mediaType = strings.ToLower(mediaType); err != nil {
		p.mediaType = unknown
	}
	kept := make(map[string]string)
	if set := strings.ToLower(parameters["charset"]); set != "" && strings.HasPrefix(p.mediaType, "text/") {
		kept["charset"] = set
		if isDecoded(e) {
			kept["charset"] = "utf-8"
		}
	}
	if p.contentType = mime.FormatMediaType(p.mediaType, kept); p.contentType == "" {
		p.mediaType, p.contentType = unknown, unknown
	}
	how, about, err := e.Header.ContentDisposition()
	p.attached = err == nil && strings.EqualFold(how, "attachment")
	p.name = about["filename"]
	if p.name == "" {
		p.name = parameters["name"]
	}
	return p
}

// isDecoded reports whether the library decodes the body of a text to UTF-8: its charset is known.
func isDecoded(e *message.Entity) bool {
	_, err := message.New(e.Header, strings.NewReader(""))
	return !message.IsUnknownCharset(err)
}

// collector collects the leaf parts of an article.
type collector struct {
	parts     []part
	warnings  []string
	left      int64 // bytes of text left
	entities  int
	truncated bool // there are more parts than shown
}

// partsOf returns the leaf parts of an article, whose size is at most size, and warnings.
func partsOf(e *message.Entity, size int64) ([]part, []string) {
	c := collector{left: size}
	c.add(e, "", 0)
	return c.parts, c.warnings
}

func (c *collector) warn(format string, values ...any) {
	const most = 10
	if len(c.warnings) < most {
		c.warnings = append(c.warnings, scheme.DecodeText(fmt.Sprintf(format, values...)))
	}
}

// add adds the leaf parts of an entity; number is its own, "" for the article.
func (c *collector) add(e *message.Entity, number string, depth int) {
	parts := multipart(e)
	if parts == nil {
		if number == "" {
			number = "1"
		}
		c.addLeaf(e, number)
		return
	}
	if depth == maxNesting {
		c.warn("The parts of part %s are nested too deep, and not shown.", number)
		return
	}
	if number != "" {
		number += "."
	}
	for i := 1; ; i++ {
		if len(c.parts) == maxParts || c.entities == maxEntities || i > maxParts {
			if !c.truncated {
				c.warn("Only the first %d parts are shown.", len(c.parts))
			}
			c.truncated = true
			return
		}
		c.entities++
		child, err := parts.NextPart()
		switch {
		case child != nil:
			c.add(child, number+strconv.Itoa(i), depth+1)
			continue
		case !errors.Is(err, io.EOF):
			c.warn("Part %s%d is malformed or missing: %v", number, i, err)
		}
		return
	}
}

// addLeaf adds a leaf part.
func (c *collector) addLeaf(e *message.Entity, number string) {
	p := describePart(e, number)
	var err error
	if p.mediaType == "text/plain" || p.mediaType == "text/html" {
		var text bytes.Buffer // decoding may have made the text longer than its source
		p.size, err = io.Copy(&text, io.LimitReader(e.Body, c.left))
		c.left -= p.size
		if p.text = text.String(); p.mediaType == "text/plain" {
			if _, parameters, err := e.Header.ContentType(); err == nil &&
				strings.EqualFold(parameters["format"], "flowed") {
				p.text = unflow(p.text, strings.EqualFold(parameters["delsp"], "yes"))
			}
		}
	}
	rest, failure := io.Copy(io.Discard, e.Body)
	p.size += rest
	if err = errors.Join(err, failure); err != nil {
		c.warn("Part %s is damaged: %v", number, err)
	}
	c.parts = append(c.parts, p)
}

// isEncoding reports whether an error is about the encoding of a part, not about the connection.
func isEncoding(err error) bool { return !isConnection(err) }

// isConnection reports whether an error is one of the connection: see broken.
func isConnection(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, resolver.ErrUnreachable) || errors.As(err, &timeout)
}

// shown returns the text of an article, and the parts that are not in it. HTML is never displayed: if the
// article has no plain text, the text of its HTML is extracted.
func shown(parts []part) (text string, rest []part) {
	var texts []string
	for _, p := range parts {
		if p.mediaType == "text/plain" && !p.attached {
			texts = append(texts, scheme.DecodeLines(p.text))
			continue
		}
		rest = append(rest, p)
	}
	if len(texts) == 0 {
		for _, p := range rest {
			if p.mediaType == "text/html" && !p.attached {
				texts = append(texts, scheme.DecodeLines(words(p.text)))
			}
		}
	}
	return strings.Join(texts, "\n"), rest
}

// partItem returns a part as an item of its article.
func (x exchange) partItem(p part) scheme.Item {
	size := p.size
	return scheme.Item{
		Kind: itemKind(p.mediaType), Name: p.fileName(), Type: p.mediaType, Size: &size,
		URI: x.target.links.within(uri.NewsQuery{Part: p.number}),
	}
}

// itemKind returns the kind of item for a media type.
func itemKind(mediaType string) string {
	kind, _, _ := strings.Cut(mediaType, "/")
	switch {
	case mediaType == "text/html":
		return scheme.ItemWeb
	case kind == "text":
		return scheme.ItemText
	case kind == "image":
		return scheme.ItemImage
	case kind == "audio":
		return scheme.ItemSound
	case kind == "video":
		return scheme.ItemVideo
	case kind == "message", mediaType == "application/pdf":
		return scheme.ItemDocument
	default:
		return scheme.ItemFile
	}
}
