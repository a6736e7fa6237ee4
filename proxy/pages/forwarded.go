package pages

import (
	"cmp"
	"net/http"

	"github.com/urnd/urnd/internal/api"
)

// nounOf returns what servers of the scheme of a URI have, in words.
func (w Writer) nounOf(p *api.Problem) string {
	noun := cmp.Or(p.Noun, "resource")
	if known, ok := w.Sentence(noun); ok {
		return known
	}
	return noun
}

// isUnreached reports whether a status is that of a proxy which has no response of the server.
func isUnreached(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}

// headingOfForwarded is heading for a URL.
func (w Writer) headingOfForwarded(p *api.Problem) string {
	t := w.text()
	switch {
	case !p.Refused && isUnreached(p.Status):
		return t.Unreached.with(w.nounOf(p))
	case !p.Refused:
		return w.title(p)
	case p.Status == http.StatusNotFound, p.Status == http.StatusGone:
		return t.NoSuch.with(w.nounOf(p))
	case p.Status == http.StatusUnauthorized:
		return string(t.PasswordNeeded)
	default:
		return string(t.Refuses)
	}
}

// saysOfForwarded is says for a URL, also to who uses a proxy without knowing it.
func (w Writer) saysOfForwarded(p *api.Problem) phrase {
	if p.Refused {
		return w.saysOfRefused(p)
	}
	t := w.text()
	noAnswer, busy, refused := t.ProxyNoAnswer, t.ProxyBusy, t.ProxyRefused
	if p.Fetched {
		noAnswer, busy, refused = t.FetchNoAnswer, t.FetchBusy, t.FetchRefused
	}
	switch {
	case p.Denied:
		return refused.around(w.denied())
	case isUnreached(p.Status):
		return noAnswer.around(w.stopped(p.Detail))
	case p.Status == http.StatusServiceUnavailable, p.Status == http.StatusTooManyRequests:
		return plain(busy)
	default:
		return refused.around(w.stopped(p.Detail))
	}
}

// denied says that the rules of the site deny what was asked for.
func (w Writer) denied() said { return said{Known: string(w.text().Denied)} }

// saysOfRefused says what a server of another protocol means.
func (w Writer) saysOfRefused(p *api.Problem) phrase {
	t := w.text()
	if p.Declined && p.Status != http.StatusNotFound {
		return t.Reason.around(w.stopped(p.Detail))
	}
	switch p.Status {
	case http.StatusNotFound:
		return plain(text(t.HasNot.with(w.nounOf(p))))
	case http.StatusGone:
		return plain(t.HadOnce)
	case http.StatusUnauthorized:
		return plain(t.OnlyUsers)
	case http.StatusForbidden:
		return plain(t.NotEverybody)
	case http.StatusBadRequest:
		return plain(t.NotUnderstood)
	case http.StatusNotImplemented:
		return plain(t.CannotDo)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return plain(t.ServerBusy)
	default:
		return plain(t.Failed)
	}
}
