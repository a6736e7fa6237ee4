package registry

import (
	"fmt"
	"net/http"
	"strconv"
)

// isRedirect reports whether a status is one of redirects to where a name leads: RFC 9110 section 15.4. 300, 304 and the others
// say something else.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	default:
		return false
	}
}

// ParseRedirect returns the status in a text, 0 for an empty one, which says none. The error wraps ErrInvalid.
func ParseRedirect(text string) (int, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	status, err := strconv.Atoi(text)
	if err != nil || !isRedirect(status) {
		return 0, fmt.Errorf("%w: %.40q is no status of a redirect: it is 301, 302, 303, 307 or 308", ErrInvalid, text)
	}
	return status, nil
}
