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

	"github.com/urnd/urnd/internal/httpmessage"
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
	if err == nil && f.request.Method == http.MethodHead {
		if resource, headErr := f.head(ctx, before, info); resource != nil || headErr != nil {
			return resource, headErr
		}
	}
	if err != nil {
		if resource, err := f.redirected(ctx, before, err); err == nil || f.request.Method == http.MethodHead || f.control.broken {
			return resource, err
		}
		info = fileInfo{size: -1} // some servers refuse SIZE for a file that they send
	}
	fields := info.fields()
	if info.etag != "" { // else it may not be there
		if instead := scheme.Precondition(f.request.Fields, fields, info.etag, info.modified); instead != nil {
			return instead, nil
		}
	}
	return f.content(ctx, before, info, fields)
}

// head returns what a HEAD is answered with in place of the file: only RETR, which it does not send, would show that a name is
// that of a directory, for which some servers have a size and a time, too. It is nil for a file.
func (f *fetch) head(ctx, before context.Context, info fileInfo) (*scheme.Resource, error) {
	if info.size < 0 && info.modified.IsZero() {
		if err := f.missing(before); err != nil {
			return f.redirected(ctx, before, err)
		}
	}
	resource, err := f.redirected(ctx, before, errUnsent)
	if errors.Is(err, errUnsent) {
		return nil, nil //nolint:nilnil // it is a file
	}
	return resource, err
}

// errUnsent stands for the refusal of a RETR that was not sent.
var errUnsent = scheme.Refuse(http.StatusNotFound, "")

// fields returns the fields of a file.
func (i fileInfo) fields() httpmessage.Fields {
	fields := httpmessage.FieldsOf("Accept-Ranges", "none")
	if i.size >= 0 {
		fields.Set("Accept-Ranges", "bytes")
	}
	if i.etag != "" {
		fields.Set("Etag", i.etag)
	}
	if !i.modified.IsZero() {
		fields.Set("Last-Modified", i.modified.UTC().Format(http.TimeFormat))
	}
	return fields
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
func (f *fetch) content(ctx, before context.Context, info fileInfo, fields httpmessage.Fields) (*scheme.Resource, error) {
	resource := &scheme.Resource{Response: httpmessage.Response{Status: http.StatusOK, Fields: fields, Body: http.NoBody, ContentLength: info.size}}
	// What only the octets show is left out of a HEAD (RFC 9110 section 9.3.2): a cache would take it for that of GET.
	if named, isSure := scheme.NamedType(f.target.Name); isSure || named != "" && f.request.Method == http.MethodGet {
		resource.Fields.Set("Content-Type", named)
	}
	part := scheme.Range{Length: info.size}
	if asked, ok := scheme.RangeOf(f.request, info.size, info.etag, info.modified); ok && info.size >= 0 {
		part = asked
		resource.Status, resource.ContentLength = asked.Status(&resource.Fields, info.size), asked.Length
	}
	if f.request.Method == http.MethodHead || resource.Status == http.StatusRequestedRangeNotSatisfiable {
		setLength(resource)
		return resource, nil
	}
	data, err := f.transfer(before, "RETR ", f.target.Name, part.First)
	if errors.Is(err, errNoRest) {
		resource.Fields.Del("Content-Range")
		resource.Fields.Set("Accept-Ranges", "none")
		resource.Status, resource.ContentLength, part = http.StatusOK, info.size, scheme.Range{Length: info.size}
		data, err = f.transfer(before, "RETR ", f.target.Name, 0)
	}
	if err != nil {
		return f.redirected(ctx, before, err)
	}
	stream := f.newBody(ctx, data, part.Length, part.First+part.Length == info.size || info.size < 0)
	f.streams = true
	if info.etag == "" { // now it is there
		if instead := scheme.Precondition(f.request.Fields, resource.Fields, "", time.Time{}); instead != nil {
			_ = stream.Close() // the file is not wanted
			return instead, nil
		}
	}
	resource.Body = stream
	if resource.Status == http.StatusOK {
		if resource.Body, err = sniffed(stream, f.target.Name, &resource.Fields); err != nil {
			return nil, err
		}
	}
	setLength(resource)
	return resource, nil
}

func setLength(r *scheme.Resource) {
	if r.ContentLength >= 0 {
		r.Fields.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
	}
}

// sniffed sets the media type by the first octets of a stream, and returns one with them.
func sniffed(stream *body, name string, fields *httpmessage.Fields) (io.ReadCloser, error) {
	head := make([]byte, scheme.SniffLength)
	n, err := io.ReadFull(stream, head)
	if cause := stream.finished; err != nil && !errors.Is(cause, io.EOF) {
		return nil, resolver.Unreachable(cause)
	}
	fields.Set("Content-Type", scheme.WithCharset(scheme.MediaType(name, head[:n]), head[:n]))
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
