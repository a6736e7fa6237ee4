// Package file retrieves local files and directories below some roots: RFC 8089.
package file

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler.
type Config struct {
	// Roots are the clean absolute paths of directories, which may be links themselves; empty: all requests are
	// refused. What is below a root is public to all who may ask, except for names that begin with a dot.
	Roots  []string
	Limits scheme.Limits
	// Now is the clock. A file that was changed within the last seconds has no strong entity tag.
	Now func() time.Time
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// cacheControl keeps local files out of the cache of urnd, which would be a second copy on the same disk: each
// request sees the file as it is. The caches of clients may keep what they validate each time.
const cacheControl = "private, no-cache"

// Fetch implements scheme.Handler. Its errors wrap scheme.ErrOff where there are no roots, resolver.ErrForbidden
// for other hosts and for paths below no root; otherwise they are a *uri.ParseError, a *scheme.Refusal, or wrap
// resolver.ErrUnreachable for a fault of the file system.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	if len(h.config.Roots) == 0 {
		return nil, fmt.Errorf("file: %w", scheme.ErrOff)
	}
	p, err := placeOf(r.URI.Normalize())
	if err != nil {
		return nil, err
	}
	root, ok := rootOf(h.config.Roots, p.path)
	if ok {
		return h.fetchBelow(ctx, r, p, root)
	}
	below := rootsBelow(h.config.Roots, p.path)
	switch {
	case len(below) == 0:
		return nil, fmt.Errorf("%w: no directory that is served contains this path", resolver.ErrForbidden)
	case !p.slash:
		return redirected(p), nil
	}
	return listed(listingOfRoots(p, below)), nil
}

// fetchBelow fetches what a path below a root names.
func (h *Handler) fetchBelow(ctx context.Context, r scheme.Request, p place, root string) (*scheme.Resource, error) {
	name, err := p.below(root)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, refusalOf(err)
	}
	defer opened.Close() //nolint:errcheck // it was only read
	if leadsToHidden(opened, name) {
		return nil, scheme.Decline(http.StatusNotFound, "no_such_file", noSuchFile)
	}
	f, info, err := open(opened, name)
	if err != nil {
		return nil, refusalOf(err)
	}
	switch {
	case !info.IsDir() && p.slash:
		_ = f.Close() // it was only read
		return nil, scheme.Decline(http.StatusNotFound, "file_no_directory", "it is a file, and no directory")
	case !info.IsDir():
		return h.send(ctx, r, f, info)
	}
	defer f.Close()
	if !p.slash { // relative references in pages of a directory need the slash
		return redirected(p), nil
	}
	l, err := h.list(ctx, directory{root: opened, file: f, name: name, place: p})
	if err != nil {
		return nil, err
	}
	if p.path != root || len(h.config.Roots) > 1 && root != "/" {
		l.Parent = parentOf(p, root)
	}
	return listed(l), nil
}

func redirected(p place) *scheme.Resource {
	resource := scheme.Redirect(http.StatusMovedPermanently, urlOf(p.path, true))
	resource.Fields.Set("Cache-Control", cacheControl)
	return resource
}

func listed(l *scheme.Listing) *scheme.Resource {
	resource := scheme.Listed(l)
	resource.Fields.Set("Cache-Control", cacheControl)
	return resource
}
