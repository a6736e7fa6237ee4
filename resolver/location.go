package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// locationSchemes are the schemes to which a client may be sent: the schemes
// of RFC 1738 but "file", which names a thing on the client's own disk, those of RFC
// 2056, and "https". A "javascript:" or "data:" out of a record would be an attack.
var locationSchemes = [...]string{
	"http", "https", "ftp", "gopher", "mailto", "news", "nntp", "telnet", "wais", "prospero", "z39.50r", "z39.50s",
}

// CheckLocation reports whether text may be handed out as a location.
func CheckLocation(text string) error {
	u, err := uri.Parse(text)
	if err != nil {
		return err
	}
	if err := u.Check(); err != nil {
		return err
	}
	if !isLocation(u) {
		return fmt.Errorf("%w: scheme %q is not one to which clients are sent", ErrForbidden, strings.ToLower(u.Scheme()))
	}
	return nil
}

// isLocation reports whether clients may be sent to the scheme of u.
func isLocation(u uri.URI) bool {
	return slices.Contains(locationSchemes[:], strings.ToLower(u.Scheme()))
}
