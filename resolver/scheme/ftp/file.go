package ftp

import (
	"bytes"
	"context"
	"errors"
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
func (f *fetch) file(ctx, before context.Context) (*scheme.Resource, error) {
	mode := byte('I')
	if f.target.Type == 'a' {
		mode = 'A'
	}
	if err := f.control.setType(before, mode); err != nil {
		return nil, err
	}
	info, err := f.info(before)
	if err == nil && f.request.Method == http.MethodHead && info.size < 0 && info.modified.IsZero() {
		err = f.missing(before)
	}
	if err != nil {
		if resource, err := f.redirected(ctx, before, err); err == nil || f.request.Method == http.MethodHead || f.control.broken {
			return resource, err
		}
		info = fileInfo{size: -1} // some servers refuse SIZE for a file that they send
	}
	header := info.header()
	if info.etag != "" { // else it may not be there
		if instead := scheme.Precondition(f.request.Header, header, info.etag, info.modified); instead != nil {
			return instead, nil
		}
	}
	return f.content(ctx, before, info, header)
}

// header returns the fields of a file.
func (i fileInfo) header() http.Header {
	header := http.Header{"Accept-Ranges": {"none"}}
	if i.size >= 0 {
		header["Accept-Ranges"] = []string{"bytes"}
	}
	if i.etag != "" {
		header["Etag"] = []string{i.etag}
	}
	if !i.modified.IsZero() {
		header["Last-Modified"] = []string{i.modified.UTC().Format(http.TimeFormat)}
	}
	return header
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
	switch {
	case r.code == 213:
		info.modified = parseTime(strings.TrimSpace(r.last()))
	case r.code == 550 && info.size < 0: // else there is a file, of which the time is not known
		return info, refusal(r, "MDTM")
	}
	info.setTag(f.config.Now())
	return info, nil
}

// settled is how long after a change the clock of a server, which may be wrong, surely shows another time.
const settled = time.Minute

// setTag sets the entity tag. There is none where the time is not known: a size says little. It is strong
// where both are known and long past. A server says the time in seconds (RFC 3659 section 2.3), so before
// that the file may change and keep both: the tag is weak, of another text than later, and the time is
// not said (RFC 9110 section 8.8.1). So no client puts parts of two versions together, or keeps the first.
func (i *fileInfo) setTag(now time.Time) {
	if i.modified.IsZero() {
		return
	}
	const base = 36
	tag := strconv.FormatInt(max(i.size, 0), base) + "-" + strconv.FormatInt(i.modified.UnixNano(), base)
	switch {
	case now.Sub(i.modified) < settled:
		i.etag, i.modified = `W/"`+tag+`-new"`, time.Time{}
	case i.size < 0:
		i.etag = `W/"` + tag + `"`
	default:
		i.etag = `"` + tag + `"`
	}
}

// content returns the octets of the file, or the part of them that is asked for.
func (f *fetch) content(ctx, before context.Context, info fileInfo, header http.Header) (*scheme.Resource, error) {
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
	data, err := f.transfer(before, "RETR ", f.target.Name, part.First)
	if errors.Is(err, errNoRest) {
		delete(header, "Content-Range")
		header["Accept-Ranges"] = []string{"none"}
		resource.Status, resource.ContentLength, part = http.StatusOK, info.size, scheme.Range{Length: info.size}
		data, err = f.transfer(before, "RETR ", f.target.Name, 0)
	}
	if err != nil {
		return f.redirected(ctx, before, err)
	}
	stream := f.newBody(ctx, data, part.Length, part.First+part.Length == info.size || info.size < 0)
	f.streams = true
	if info.etag == "" { // now it is there
		if instead := scheme.Precondition(f.request.Header, header, "", time.Time{}); instead != nil {
			_ = stream.Close() // the file is not wanted
			return instead, nil
		}
	}
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
		return nil, resolver.Unreachable(cause)
	}
	header["Content-Type"] = []string{scheme.MediaType(name, head[:n])}
	return peeked{io.MultiReader(bytes.NewReader(head[:n]), stream), stream}, nil
}

// peeked is a stream whose first octets were read.
type peeked struct {
	io.Reader
	io.Closer
}

// parseSize is scheme.ParseSize; -1 for what is none.
func parseSize(text string) int64 {
	size, ok := scheme.ParseSize(text)
	if !ok {
		return -1
	}
	return size
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
