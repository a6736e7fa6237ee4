package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// maxDocument limits a document, in bytes: a name has at most 100 targets of 8 KiB each, and 64 KiB of
// metadata.
const maxDocument = 2 << 20

// Media types of bodies.
const (
	typeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json" // RFC 7396
)

// contentType returns the media type of the body, or an error if it is not one of taken.
func (c *call) contentType(taken ...string) (string, error) {
	given := c.Header.Get("Content-Type")
	kind, parameters, err := mime.ParseMediaType(given)
	charset := parameters["charset"]
	if err != nil || !slices.Contains(taken, kind) || charset != "" && charset != "utf-8" && charset != "UTF-8" {
		return "", fmt.Errorf("%w: %q; supported: %s", problem.ErrContentType, given, strings.Join(taken, ", "))
	}
	return kind, nil
}

// document reads a JSON body of a media type.
func (c *call) document(kind string) ([]byte, error) {
	if _, err := c.contentType(kind); err != nil {
		return nil, err
	}
	// It is checked before the body is read, that is before "100 Continue" is sent.
	if c.ContentLength > maxDocument {
		return nil, fmt.Errorf("%w: the limit is %d bytes", problem.ErrDocumentSize, maxDocument)
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.w, c.Body, maxDocument))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fmt.Errorf("%w: the limit is %d bytes", problem.ErrDocumentSize, maxDocument)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problem.ErrBodyTimeout
	case err != nil:
		return nil, fmt.Errorf("%w: %w", problem.ErrDocument, err)
	}
	var failure *json.SyntaxError
	if err := json.Unmarshal(text, new(json.RawMessage)); errors.As(err, &failure) {
		return nil, fmt.Errorf("%w: invalid JSON at byte %d: %w", problem.ErrDocument, failure.Offset, err)
	}
	return text, registry.UniqueMembers(text)
}

// decode reads a JSON body into v. Unknown members are errors, since they may be mistyped.
func (c *call) decode(v any) error {
	text, err := c.document(typeJSON)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", registry.ErrInvalid, api.ToDocumentError(err))
	}
	return nil
}
