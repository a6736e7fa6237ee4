package pages

import (
	"cmp"
	"net/http"

	"github.com/urnd/urnd/internal/api"
)

// nounOf returns what servers of the scheme of a URI have, in words.
func nounOf(p api.Problem) string { return cmp.Or(p.Noun, "resource") }

// isUnreached reports whether a status is that of a proxy which has no response of the server.
func isUnreached(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}

// headingOfForwarded is heading for a URL.
func headingOfForwarded(p api.Problem) string {
	switch {
	case !p.Refused && isUnreached(p.Status):
		return "This " + nounOf(p) + " cannot be reached"
	case !p.Refused:
		return p.Title
	case p.Status == http.StatusNotFound, p.Status == http.StatusGone:
		return "There is no such " + nounOf(p)
	case p.Status == http.StatusUnauthorized:
		return "A password is needed"
	default:
		return "The server refuses"
	}
}

// saysOfForwarded is says for a URL, also to who uses a proxy without knowing it.
func saysOfForwarded(p api.Problem) string {
	if p.Refused {
		return saysOfRefused(p)
	}
	if p.Fetched {
		return saysOfFetched(p)
	}
	const who = "The proxy on the way to this site"
	switch p.Status {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return who + " got no response from it: " + sentence(p.Detail)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return who + " is busy. Try again in a moment."
	default:
		return who + " did not forward the request: " + sentence(p.Detail)
	}
}

// saysOfFetched is says for what was asked for at /fetch.
func saysOfFetched(p api.Problem) string {
	switch p.Status {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "Its server cannot be reached, or does not answer as it should: " + sentence(p.Detail)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "This server is busy. Try again in a moment."
	default:
		return "This server does not fetch it: " + sentence(p.Detail)
	}
}

// saysOfRefused says what a server of another protocol means.
func saysOfRefused(p api.Problem) string {
	if p.Declined && p.Status != http.StatusNotFound {
		return "The reason: " + sentence(p.Detail)
	}
	switch p.Status {
	case http.StatusNotFound:
		return "The server has no such " + nounOf(p) + "."
	case http.StatusGone:
		return "The server had it once, and has it no longer."
	case http.StatusUnauthorized:
		return "The server gives it only to users with a name and a password."
	case http.StatusForbidden:
		return "The server does not give it to everybody."
	case http.StatusBadRequest:
		return "The server does not understand this address."
	case http.StatusNotImplemented:
		return "The server cannot do what is needed for it."
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "The server is busy, or has too many visitors. Try again later."
	default:
		return "The server could not do it. Try again later."
	}
}
