package answer

import (
	"net/http"

	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// RedirectStatus returns the status of a redirect to where a name leads: that which the registry says of it, unless the form of the request
// has its own (RFC 2169 section 3.1). Clients before HTTP/1.1 know neither 303 nor 307 nor 308 (RFC 1945 section 9.3); they keep the
// method of 301 and 302 as those have it.
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
