package ftp

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// refusal maps a negative reply to an error with an HTTP status: RFC 959 section 4.2.1, RFC 4217 section 4.
func refusal(r reply, command string) error {
	var status int
	switch r.code {
	case 530:
		if status = http.StatusForbidden; isFull(r) {
			status = http.StatusServiceUnavailable
		}
	case 450:
		if status = http.StatusServiceUnavailable; containsAny(r.last(), "no such file") { // NLST of ProFTPD
			status = http.StatusNotFound
		}
	case 421, 434, 452:
		status = http.StatusServiceUnavailable
	case 425, 426, 451:
		status = http.StatusBadGateway
	case 522, 532, 533, 534, 535, 536, 537, 553:
		status = http.StatusForbidden
	case 550, 551:
		if status = http.StatusNotFound; isDenial(r.last()) {
			status = http.StatusForbidden
		}
	default:
		return fmt.Errorf("%w: reply to %s: %.200q", scheme.ErrInvalidResponse, strings.TrimSpace(command), r.text())
	}
	return scheme.UpstreamError(status, scheme.DecodeText(r.text()))
}

// isDenial reports whether the text of a reply 550 means that the file exists, but this user has no permission.
func isDenial(text string) bool {
	return containsAny(text, "permission denied", "access denied", "access is denied", "not permitted", "prohibited",
		"not authorized", "forbidden")
}

// isFull reports whether a reply to a login means that the server has too many users. RFC 959 has 421 for it,
// but some servers send 530.
func isFull(r reply) bool {
	return r.code == 530 && containsAny(strings.Join(r.lines, " "), "maximum", "too many")
}

// isEmpty reports whether a negative reply, with its code, means that the directory is empty.
func isEmpty(text string) bool {
	isListing := strings.HasPrefix(text, "550 ") || strings.HasPrefix(text, "450 ")
	return isListing && !isDenial(text) &&
		containsAny(text, "no files", "directory is empty", "directory empty", "empty directory")
}

// isUnread reports whether the reply at the end of a listing means that the directory could not be read, such
// as "226 Transfer done (but failed to open directory)." of vsftpd.
func isUnread(r reply) bool { return containsAny(r.last(), "failed to open") }

// containsAny reports whether a text contains any of the words, which must be in lower case.
func containsAny(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// unauthorized returns the refusal of a login as 401, so that a browser prompts for a password. The user in the
// realm is spelled as in the URI, where no byte can end a quoted string.
func unauthorized(t target, r reply) error {
	realm := t.host
	if userinfo, ok := t.uri.Userinfo(); ok {
		realm = userinfo + "@" + t.host
	}
	realm = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace("ftp " + realm)
	return &scheme.StatusError{
		Status: http.StatusUnauthorized, Reply: scheme.DecodeText(r.text()),
		Fields: httpmessage.NewFields("Www-Authenticate", `Basic realm="`+realm+`", charset="UTF-8"`),
	}
}
