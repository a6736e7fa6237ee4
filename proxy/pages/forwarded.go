package pages

import (
	"cmp"
	"html/template"
	"net/http"

	"github.com/urnd/urnd/internal/api"
)

// nounOf returns the noun for a resource in the scheme of a URI.
func (w Writer) nounOf(p *api.Problem) string {
	return w.Text("noun." + cmp.Or(p.Noun, "resource"))
}

// isUnreached reports whether a status means that the proxy has no response of the server.
func isUnreached(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}

// headingOfForwarded is heading for a proxied URL.
func (w Writer) headingOfForwarded(p *api.Problem) string {
	switch {
	case !p.Refused && isUnreached(p.Status):
		return w.Text("proxied.unreached", "Noun", w.nounOf(p))
	case !p.Refused:
		return w.title(p)
	case p.Status == http.StatusNotFound, p.Status == http.StatusGone:
		return w.Text("proxied.no_such", "Noun", w.nounOf(p))
	case p.Status == http.StatusUnauthorized:
		return w.Text("proxied.password_needed")
	default:
		return w.Text("proxied.refuses")
	}
}

// forwardedMessage is problemMessage for a proxied URL, also for a reader who does not know of the proxy.
func (w Writer) forwardedMessage(p *api.Problem) template.HTML {
	if p.Refused {
		return w.refusedMessage(p)
	}
	by := "proxied.proxy_"
	if p.Fetched {
		by = "proxied.fetch_"
	}
	switch {
	case p.Denied:
		return w.T(by+"refused", "Reason", w.T("proxied.denied"))
	case isUnreached(p.Status):
		return w.T(by+"no_answer", "Reason", w.reason(p))
	case p.Status == http.StatusServiceUnavailable, p.Status == http.StatusTooManyRequests:
		return w.T(by + "busy")
	default:
		return w.T(by+"refused", "Reason", w.reason(p))
	}
}

// refusedMessage explains the error response of a server of another protocol.
func (w Writer) refusedMessage(p *api.Problem) template.HTML {
	if p.Declined && p.Status != http.StatusNotFound {
		return w.reason(p)
	}
	switch p.Status {
	case http.StatusNotFound:
		return w.T("proxied.has_not", "Noun", w.nounOf(p))
	case http.StatusGone:
		return w.T("proxied.had_once")
	case http.StatusUnauthorized:
		return w.T("proxied.only_users")
	case http.StatusForbidden:
		return w.T("proxied.not_everybody")
	case http.StatusBadRequest:
		return w.T("proxied.not_understood")
	case http.StatusNotImplemented:
		return w.T("proxied.cannot_do")
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return w.T("proxied.server_busy")
	default:
		return w.T("proxied.failed")
	}
}
