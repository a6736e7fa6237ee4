package ftp

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// refusal returns the error of a reply that refuses a command: RFC 959 section 4.2.1, RFC 4217 section 4.
func refusal(r reply, command string) error {
	var status int
	switch r.code {
	case 530:
		if status = http.StatusForbidden; isFull(r) {
			status = http.StatusServiceUnavailable
		}
	case 450:
		if status = http.StatusServiceUnavailable; says(r.last(), "no such file") { // of NLST at ProFTPD
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
		return fmt.Errorf("%w: the reply to %s is %.200q", scheme.ErrResponse, strings.TrimSpace(command), r.text())
	}
	return scheme.Refuse(status, scheme.Text(r.text()))
}

// isDenial reports whether the text of a reply 550 says that there is a file, but not for this user.
func isDenial(text string) bool {
	return says(text, "permission denied", "access denied", "access is denied", "not permitted", "prohibited", "not authorized", "forbidden")
}

// isFull reports whether a reply to a login says that the server has enough users: RFC 959 has 421 for it, but
// some servers say 530.
func isFull(r reply) bool {
	return r.code == 530 && says(strings.Join(r.lines, " "), "maximum", "too many")
}

// isEmpty reports whether the text of a refusal, with its code, means that there is nothing to list.
func isEmpty(text string) bool {
	isListing := strings.HasPrefix(text, "550 ") || strings.HasPrefix(text, "450 ")
	return isListing && !isDenial(text) && says(text, "no files", "directory is empty", "directory empty", "empty directory")
}

// isUnread reports whether the reply at the end of a listing says that the directory could not be read, as
// vsftpd does: "226 Transfer done (but failed to open directory)."
func isUnread(r reply) bool { return says(r.last(), "failed to open") }

// says reports whether a text has one of some words, which are in lower case.
func says(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// unauthorized returns the refusal of a login, from which a browser asks its user for a password. The user
// in the realm is as in the URI, in which no octet can end a quoted text.
func unauthorized(t target, r reply) error {
	realm := t.host
	if userinfo, ok := t.uri.Userinfo(); ok {
		realm = userinfo + "@" + t.host
	}
	realm = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace("ftp " + realm)
	return &scheme.Refusal{
		Status: http.StatusUnauthorized, Reply: scheme.Text(r.text()),
		Fields: httpmessage.FieldsOf("Www-Authenticate", `Basic realm="`+realm+`", charset="UTF-8"`),
	}
}
