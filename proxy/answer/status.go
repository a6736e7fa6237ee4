package answer

import (
	"net/http"

	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// RedirectStatus returns the status of the redirect of a name: that of its record, unless the form of the
// request requires another one (RFC 2169 section 3.1). Clients before HTTP/1.1 do not know 303, 307 and 308
// (RFC 1945 section 9.3): they get 301 or 302, with which they preserve the method.
func RedirectStatus(form route.Form, http11 bool, record *resolver.Record) int {
	status := form.RedirectStatus(http11)
	if record == nil || record.Redirect == 0 || form == route.FormTHTTP {
		return status
	}
	status = record.Redirect
	if !http11 {
		switch status {
		case http.StatusPermanentRedirect:
			return http.StatusMovedPermanently
		case http.StatusSeeOther, http.StatusTemporaryRedirect:
			return http.StatusFound
		}
	}
	return status
}
