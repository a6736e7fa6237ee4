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

// fileInfo is the metadata of a file from SIZE and MDTM.
type fileInfo struct {
	size     int64 // in bytes; -1 if unknown
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
		if resource, err := f.redirected(ctx, before, err); err == nil || f.request.Method == http.MethodHead ||
			f.control.broken {
			return resource, err
		}
		info = fileInfo{size: -1} // some servers reject SIZE for a file that RETR sends
	}
	fields := info.fields()
	if info.etag != "" { // without metadata the file may not exist
		if instead := scheme.Precondition(f.request.Fields, fields, info.etag, info.modified); instead != nil {
			return instead, nil
		}
	}
	return f.content(ctx, before, info, fields)
}

// head returns the response to a HEAD whose target is a directory, and nil for a file. For a GET the rejected
// RETR shows a directory, but HEAD sends none, and for a directory some servers also answer SIZE and MDTM.
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

// errUnsent stands for the rejection of a RETR that is not sent for HEAD.
var errUnsent = scheme.UpstreamError(http.StatusNotFound, "")

// fields returns the header fields of a file.
func (i fileInfo) fields() httpmessage.Fields {
	fields := httpmessage.NewFields("Accept-Ranges", "none")
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

// info queries size and time: RFC 3659 sections 3 and 4. The error means that the file does not exist. In text
// mode neither the size nor a byte offset is known.
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
	case r.code == 550 && info.size < 0: // otherwise the file exists, and only its time is unknown
		return info, refusal(r, "MDTM")
	}
	info.setTag(f.config.Now())
	return info, nil
}

// settled is the time after a change when another change certainly gets another timestamp of the server, whose
// clock may be wrong.
const settled = time.Minute

// setTag sets the entity tag. There is none if the time is unknown, because a size alone says little. The tag
// is strong if size and time are known and the time is long past. Times have a resolution of seconds (RFC 3659
// section 2.3), so a recently changed file may change again and keep both. Its tag is then weak and differs
// from the later one, and Last-Modified is omitted (RFC 9110 section 8.8.1). So no client combines parts of two
// versions, or keeps the older one.
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

// content returns the bytes of the file, or the requested range of them.
func (f *fetch) content(
	ctx, before context.Context, info fileInfo, fields httpmessage.Fields,
) (*scheme.Resource, error) {
	resource := &scheme.Resource{Response: httpmessage.Response{
		Status: http.StatusOK, Fields: fields,
		Body: http.NoBody, ContentLength: info.size,
	}}
	// Fields that depend on the content are omitted for HEAD (RFC 9110 section 9.3.2): a cache would take them
	// for those of GET.
	if named, sure := scheme.NamedType(f.target.Name); sure || named != "" && f.request.Method == http.MethodGet {
		resource.Fields.Set("Content-Type", named)
	}
	part := scheme.Range{Length: info.size}
	if requested, ok := scheme.ParseRange(f.request, info.size, info.etag, info.modified); ok && info.size >= 0 {
		part = requested
		resource.Status, resource.ContentLength = requested.Status(&resource.Fields, info.size), requested.Length
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
	if info.etag == "" { // RETR succeeded, so the file exists
		if instead := scheme.Precondition(f.request.Fields, resource.Fields, "", time.Time{}); instead != nil {
			_ = stream.Close() // the transfer is aborted
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

// sniffed sets the media type from the first bytes of a stream, and returns a stream that includes them.
func sniffed(stream *body, name string, fields *httpmessage.Fields) (io.ReadCloser, error) {
	head := make([]byte, scheme.SniffLength)
	n, err := io.ReadFull(stream, head)
	if cause := stream.finished; err != nil && !errors.Is(cause, io.EOF) {
		return nil, resolver.Unreachable(cause)
	}
	fields.Set("Content-Type", scheme.WithCharset(scheme.MediaType(name, head[:n]), head[:n]))
	return peeked{io.MultiReader(bytes.NewReader(head[:n]), stream), stream}, nil
}

// peeked is a stream whose first bytes were read in advance.
type peeked struct {
	io.Reader
	io.Closer
}

// parseSize is scheme.ParseSize; -1 for an invalid size.
func parseSize(text string) int64 {
	size, ok := scheme.ParseSize(text)
	if !ok {
		return -1
	}
	return size
}

// parseTime parses a time-val of RFC 3659 section 2.3; the zero value for an invalid one.
func parseTime(text string) time.Time {
	const layout = "20060102150405" // also parses a fraction
	t, err := time.Parse(layout, text)
	if err != nil || t.Year() < 1 {
		return time.Time{}
	}
	return t
}
