package ftp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// fetch is one request on a connection that is logged in.
type fetch struct {
	config  *Config
	request scheme.Request
	target  target
	control *control
	notes   []string // text of the server for the last directory entered
	streams bool     // the body owns the connection
	release func()   // returns the connection to the pool
}

// answer changes to the directory of the target, segment by segment (RFC 1738 section 3.2.2), and fetches its
// name there. before is ctx with the timeout until the first byte.
func (f *fetch) answer(ctx, before context.Context) (*scheme.Resource, error) {
	for i, name := range f.target.Dirs {
		if err := f.enter(before, name, i == 0); err != nil {
			return nil, err
		}
	}
	switch {
	case f.target.Type == 'd':
		return f.named(ctx, before)
	case f.target.Name == "":
		return f.directory(ctx)
	default:
		return f.file(ctx, before)
	}
}

// enter changes the directory. Few servers accept a CWD without a name, which RFC 1738 requires for "//". As in
// other clients, an empty first segment is then the root, and a later one is ignored.
func (f *fetch) enter(ctx context.Context, name string, first bool) error {
	r, err := f.control.command(ctx, "CWD ", name)
	if err == nil && name == "" && r.code/100 == 5 {
		if !first {
			return nil
		}
		r, err = f.control.command(ctx, "CWD ", "/")
	}
	if err != nil {
		return err
	}
	if !r.ok() {
		return refusal(r, "CWD")
	}
	f.notes = r.message()
	return nil
}

// named handles ";type=d": it returns the listing of a directory, or of the names that match a pattern.
func (f *fetch) named(ctx, before context.Context) (*scheme.Resource, error) {
	if f.target.Name == "" {
		return f.directory(ctx)
	}
	err := f.enter(before, f.target.Name, false)
	var refused *scheme.StatusError
	switch {
	case err == nil:
		return f.directory(ctx)
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound && f.target.Name[0] != '-':
		// A leading hyphen would start options.
		return f.names(ctx, f.target.Name)
	default:
		return nil, err
	}
}

// hasPassword reports whether the URI has a password.
func (f *fetch) hasPassword() bool {
	userinfo, _ := f.request.URI.Userinfo()
	return strings.Contains(userinfo, ":")
}

// redirected handles a rejected file name that may be a directory, whose URI needs a trailing slash: it
// redirects to that URI, or returns err if it is no directory. A redirect must not contain a password, so for a
// URI with a password the listing itself is returned.
func (f *fetch) redirected(ctx, before context.Context, err error) (*scheme.Resource, error) {
	var refused *scheme.StatusError
	if f.target.Type != 0 || f.control.broken || !errors.As(err, &refused) ||
		refused.Status != http.StatusNotFound && refused.Status != http.StatusForbidden {
		return nil, err
	}
	switch entered := f.enter(before, f.target.Name, false); {
	case entered == nil && f.hasPassword():
		return f.directory(ctx)
	case entered == nil:
		return scheme.Redirect(http.StatusFound, f.target.directory()), nil
	case errors.As(entered, new(*scheme.StatusError)):
		return nil, err
	default:
		return nil, fmt.Errorf("after a refusal: %w", entered)
	}
}
