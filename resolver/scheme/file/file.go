// Package file serves local files and directories below configured roots as scheme.Handler. A request for a
// file URL enters; a file with validators, media type and ranges leaves, or a directory listing. Names that
// start with a dot, and paths and symbolic links out of the roots, are denied. It implements RFC 8089 with the
// preconditions and ranges of RFC 9110.
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
	// Roots are clean absolute paths of directories, which may be symbolic links themselves. If empty, all requests
	// are denied. All files below a root are public to every authorized client, except names that start with a dot.
	Roots  []string
	Limits scheme.Limits
	// Now is the clock. A file changed within the last 2 seconds gets a weak entity tag.
	Now func() time.Time
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// cacheControl keeps local files out of the cache of urnd, where they would be a second copy on the same disk.
// So each request sees the current file. Private caches may store a response if they revalidate it for each
// use.
const cacheControl = "private, no-cache"

// Fetch implements scheme.Handler. An error wraps scheme.ErrDisabled if there are no roots, and
// resolver.ErrForbidden for another host and for a path below no root. Otherwise it is a *uri.ParseError, a
// *scheme.StatusError, or wraps resolver.ErrUnreachable for an error of the file system.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	if len(h.config.Roots) == 0 {
		return nil, fmt.Errorf("file: %w", scheme.ErrDisabled)
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
		return nil, fmt.Errorf("%w: path outside of the served directories", resolver.ErrForbidden)
	case !p.slash:
		return redirected(p), nil
	}
	return listed(listingOfRoots(p, below)), nil
}

// fetchBelow fetches the file or directory at a path below a root.
func (h *Handler) fetchBelow(ctx context.Context, r scheme.Request, p place, root string) (*scheme.Resource, error) {
	name, err := p.below(root)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, refusalOf(err)
	}
	defer opened.Close() //nolint:errcheck // read-only, so Close cannot lose data
	if leadsToHidden(opened, name) {
		return nil, scheme.PolicyDenial(http.StatusNotFound, "no_such_file", noSuchFile)
	}
	f, info, err := open(opened, name)
	if err != nil {
		return nil, refusalOf(err)
	}
	switch {
	case !info.IsDir() && p.slash:
		_ = f.Close() // read-only, so Close cannot lose data
		return nil, scheme.PolicyDenial(http.StatusNotFound, "file_no_directory", "not a directory")
	case !info.IsDir():
		return h.send(ctx, r, f, info)
	}
	defer f.Close()
	if !p.slash { // relative references in a directory page need the trailing slash
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
	resource := scheme.ListingResource(l)
	resource.Fields.Set("Cache-Control", cacheControl)
	return resource
}
