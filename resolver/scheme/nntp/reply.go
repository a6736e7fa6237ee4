package nntp

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/urnd/urnd/resolver/scheme"
)

// The reply codes: RFC 3977 appendix C, RFC 4643 section 3 and RFC 4642 section 3.
const (
	codeCapabilities = 101
	codeDate         = 111
	codeMayPost      = 200
	codeNoPosting    = 201
	codeGroup        = 211
	codeList         = 215
	codeArticle      = 220
	codeHead         = 221
	codeOverview     = 224
	codeLoggedIn     = 281
	codePassword     = 381
	codeStartTLS     = 382
	codeUnavailable  = 400
	codeInternal     = 403
	codeNoGroup      = 411
	codeNoCurrent    = 412
	codeNoArticle    = 420
	codeNoNumber     = 423
	codeNoMessage    = 430
	codeNeedsLogin   = 450 // RFC 2980 section 3.1.1; means 480
	codeRejected     = 452 // RFC 2980 section 3.1.1; means 481
	codeLoginNeeded  = 480
	codeLoginFailed  = 481
	codeLoginOrder   = 482
	codeNeedsTLS     = 483
	codeUnknown      = 500
	codeSyntax       = 501
	codeDenied       = 502
	codeFeature      = 503
)

// reply is the first line of a response.
type reply struct {
	code int
	text string // the rest of the line, after the code
}

// String returns the reply for people.
func (r reply) String() string { return scheme.DecodeText(fmt.Sprintf("%03d %s", r.code, r.text)) }

// parseReply parses the first line of a response: RFC 3977 section 3.2.
func parseReply(line string) (reply, error) {
	const digits = 3
	if len(line) < digits || len(line) > digits && line[digits] != ' ' {
		return reply{}, fmt.Errorf("%w: not an NNTP reply: %.40q", scheme.ErrInvalidResponse, line)
	}
	code, err := strconv.ParseUint(line[:digits], 10, 16)
	if err != nil || code < 100 || code > 599 {
		return reply{}, fmt.Errorf("%w: not an NNTP reply: %.40q", scheme.ErrInvalidResponse, line)
	}
	text := line[digits:]
	if text != "" {
		text = text[1:]
	}
	return reply{int(code), text}, nil
}

// refusal returns the error for an unexpected reply.
func (r reply) refusal(s server) error {
	switch r.code {
	case codeNoGroup, codeNoArticle, codeNoNumber, codeNoMessage:
		return scheme.UpstreamError(http.StatusNotFound, r.String())
	case codeLoginNeeded, codeLoginFailed, codeNeedsLogin, codeRejected:
		return s.refuse(r.String())
	case codeDenied, codeNeedsTLS:
		return scheme.UpstreamError(http.StatusForbidden, r.String())
	case codeUnavailable, codeInternal:
		return scheme.UpstreamError(http.StatusServiceUnavailable, r.String())
	case codeUnknown, codeSyntax, codeFeature:
		return scheme.UpstreamError(http.StatusNotImplemented, r.String())
	case codeNoCurrent, codeLoginOrder: // no command sent here can cause them
		return fmt.Errorf("%w: %s", scheme.ErrInvalidResponse, r)
	}
	if r.code >= codeUnavailable {
		return scheme.UpstreamError(http.StatusBadGateway, r.String())
	}
	return fmt.Errorf("%w: unexpected reply %s", scheme.ErrInvalidResponse, r)
}
