package ftp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// fileInfo is what a server says of a file before it is sent.
type fileInfo struct {
	size     int64 // -1 where it is not known
	modified time.Time
	etag     string
}

// file returns the file of the target.
func (f *fetch) file(ctx context.Context) (*scheme.Resource, error) {
	mode := byte('I')
	if f.target.Type == 'a' {
		mode = 'A'
	}
	if err := f.control.setType(ctx, mode); err != nil {
		return nil, err
	}
	info, err := f.info(ctx)
	if err != nil {
		if resource, err := f.redirected(ctx, err); err == nil || f.request.Method == http.MethodHead || f.control.broken {
			return resource, err
		}
		info = fileInfo{size: -1} // some servers refuse SIZE for a file that they send
	}
	header := make(http.Header)
	if info.etag != "" {
		header["Etag"] = []string{info.etag}
	}
	if !info.modified.IsZero() {
		header["Last-Modified"] = []string{info.modified.UTC().Format(http.TimeFormat)}
	}
	header["Accept-Ranges"] = []string{"none"}
	if info.size >= 0 {
		header["Accept-Ranges"] = []string{"bytes"}
	}
	if scheme.Unmodified(f.request.Header, info.etag, info.modified) {
		return scheme.NotModified(header), nil
	}
	return f.content(ctx, info, header)
}

// info asks for size and time: RFC 3659 sections 3 and 4. The error is that of a file that is not there. In
// the mode of text neither the size nor the offset of an octet is known.
func (f *fetch) info(ctx context.Context) (fileInfo, error) {
	info := fileInfo{size: -1}
	if f.target.Type != 'a' {
		r, err := f.control.command(ctx, "SIZE ", f.target.Name)
		switch {
		case err != nil:
			return info, err
		case r.code == 213:
			info.size = parseSize(strings.TrimSpace(r.last()))
		case r.code == 550, r.code == 553:
			return info, refusal(r, "SIZE")
		}
	}
	r, err := f.control.command(ctx, "MDTM ", f.target.Name)
	if err != nil {
		return info, err
	}
	if r.code == 213 {
		info.modified = parseTime(strings.TrimSpace(r.last()))
	}
	info.etag = entityTag(info)
	return info, nil
}

// entityTag is strong where both are known: a file that changes keeps neither.
func entityTag(info fileInfo) string {
	const base = 36
	switch {
	case info.size >= 0 && !info.modified.IsZero():
		return `"` + strconv.FormatInt(info.size, base) + "-" + strconv.FormatInt(info.modified.UnixNano(), base) + `"`
	case info.size >= 0:
		return `W/"` + strconv.FormatInt(info.size, base) + `"`
	case !info.modified.IsZero():
		return `W/"-` + strconv.FormatInt(info.modified.UnixNano(), base) + `"`
	default:
		return ""
	}
}

// content returns the octets of the file, or the part of them that is asked for.
func (f *fetch) content(ctx context.Context, info fileInfo, header http.Header) (*scheme.Resource, error) {
	resource := &scheme.Resource{Status: http.StatusOK, Header: header, Body: http.NoBody, ContentLength: info.size}
	named := scheme.MediaType(f.target.Name, nil)
	if named != "application/octet-stream" {
		header["Content-Type"] = []string{named}
	}
	part := scheme.Range{Length: info.size}
	if asked, ok := scheme.RangeOf(f.request, info.size, info.etag, info.modified); ok && info.size >= 0 {
		part = asked
		resource.Status, resource.ContentLength = asked.Status(header, info.size), asked.Length
	}
	if f.request.Method == http.MethodHead || resource.Status == http.StatusRequestedRangeNotSatisfiable {
		setLength(resource)
		return resource, nil
	}
	data, err := f.transfer(ctx, "RETR ", f.target.Name, part.First)
	if errors.Is(err, errNoRest) {
		delete(header, "Content-Range")
		header["Accept-Ranges"] = []string{"none"}
		resource.Status, resource.ContentLength, part = http.StatusOK, info.size, scheme.Range{Length: info.size}
		data, err = f.transfer(ctx, "RETR ", f.target.Name, 0)
	}
	if err != nil {
		return f.redirected(ctx, err)
	}
	stream := f.newBody(ctx, data, part.Length, part.First+part.Length == info.size || info.size < 0)
	f.streams = true
	resource.Body = stream
	if resource.Status == http.StatusOK {
		if resource.Body, err = sniffed(stream, f.target.Name, header); err != nil {
			return nil, err
		}
	}
	setLength(resource)
	return resource, nil
}

func setLength(r *scheme.Resource) {
	if r.ContentLength >= 0 {
		r.Header["Content-Length"] = []string{strconv.FormatInt(r.ContentLength, 10)}
	}
}

// sniffed sets the media type by the first octets of a stream, and returns one with them.
func sniffed(stream *body, name string, header http.Header) (io.ReadCloser, error) {
	head := make([]byte, scheme.SniffLength)
	n, err := io.ReadFull(stream, head)
	if cause := stream.finished; err != nil && !errors.Is(cause, io.EOF) {
		return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, cause)
	}
	header["Content-Type"] = []string{scheme.MediaType(name, head[:n])}
	return peeked{io.MultiReader(bytes.NewReader(head[:n]), stream), stream}, nil
}

// peeked is a stream whose first octets were read.
type peeked struct {
	io.Reader
	io.Closer
}

// parseSize returns a number of octets; -1 for what is none.
func parseSize(text string) int64 {
	if text == "" || text[0] < '0' || text[0] > '9' { // most words are none, and need no error
		return -1
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return -1
	}
	return int64(n)
}

// parseTime returns a time-val of RFC 3659 section 2.3; the zero value for what is none.
func parseTime(text string) time.Time {
	const layout = "20060102150405" // also with a fraction
	t, err := time.Parse(layout, text)
	if err != nil || t.Year() < 1 {
		return time.Time{}
	}
	return t
}
