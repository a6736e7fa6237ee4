package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// send returns the resource of a regular file. Closing its body closes f; for an empty body f is closed
// immediately.
func (h *Handler) send(ctx context.Context, r scheme.Request, f *os.File, info fs.FileInfo) (*scheme.Resource, error) {
	resource, part, err := h.resource(r, f, info)
	if err != nil || part.Length == 0 || r.Method == http.MethodHead {
		_ = f.Close() // read-only, so Close cannot lose data
		return resource, err
	}
	resource.Body = &body{ctx: ctx, file: f, next: part.First, left: part.Length}
	return resource, nil
}

// resource returns the response without its body, and the part of the file to send as body.
func (h *Handler) resource(r scheme.Request, f *os.File, info fs.FileInfo) (*scheme.Resource, scheme.Range, error) {
	size := info.Size()
	etag, modified := validatorsOf(info, h.config.Now())
	fields := httpmessage.NewFields("Accept-Ranges", "bytes", "Cache-Control", cacheControl, "Etag", etag)
	if !modified.IsZero() {
		fields.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	}
	if instead := scheme.Precondition(r.Fields, fields, etag, modified); instead != nil {
		return instead, scheme.Range{}, nil
	}
	head := make([]byte, min(size, scheme.SniffLength))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, scheme.Range{}, fmt.Errorf("%w: reading the file: %w", resolver.ErrUnreachable, withoutPath(err))
	}
	fields.Set("Content-Type", scheme.WithCharset(scheme.MediaType(info.Name(), head[:n]), head[:n]))
	status := http.StatusOK
	part, ok := scheme.ParseRange(r, size, etag, modified)
	if ok {
		status = part.Status(&fields, size)
	} else {
		part = scheme.Range{Length: size}
	}
	fields.Set("Content-Length", strconv.FormatInt(part.Length, 10))
	return &scheme.Resource{Response: httpmessage.Response{
		Status: status, Fields: fields, Body: http.NoBody,
		ContentLength: part.Length,
	}}, part, nil
}

// withoutPath returns the cause of a *fs.PathError, whose text has no local path.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
