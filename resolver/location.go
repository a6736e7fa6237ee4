package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// locationSchemes are the schemes allowed for locations: those of RFC 1738 except "file",
// which refers to the client's own disk, those of RFC 2056, and "https". "javascript:" or
// "data:" from a record could attack the client.
var locationSchemes = [...]string{
	"http", "https", "ftp", "gopher", "mailto", "news", "nntp", "telnet", "wais", "prospero", "z39.50r", "z39.50s",
}

// CheckLocation returns an error unless text may be returned to clients as a location. A
// scheme that is not allowed is ErrForbidden.
func CheckLocation(text string) error {
	u, err := uri.Parse(text)
	if err != nil {
		return err
	}
	if err := u.Check(); err != nil {
		return err
	}
	if !isLocation(u) {
		return fmt.Errorf("%w: scheme %q is not allowed for locations", ErrForbidden, strings.ToLower(u.Scheme()))
	}
	return nil
}

// isLocation reports whether the scheme of u is allowed for locations.
func isLocation(u uri.URI) bool {
	return slices.Contains(locationSchemes[:], strings.ToLower(u.Scheme()))
}
