package ftp

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// refusal returns the error of a reply that refuses a command: RFC 959 section 4.2.1, RFC 4217 section 4.
func refusal(r reply, command string) error {
	status := 0
	switch r.code {
	case 421, 434, 450, 452:
		status = http.StatusServiceUnavailable
	case 425, 426, 451:
		status = http.StatusBadGateway
	case 522, 530, 532, 533, 534, 535, 536, 537, 553:
		status = http.StatusForbidden
	case 550, 551:
		if status = http.StatusNotFound; isDenial(r.last()) {
			status = http.StatusForbidden
		}
	default:
		return fmt.Errorf("%w: the reply to %s is %.200q", scheme.ErrResponse, command, r.text())
	}
	return scheme.Refuse(status, scheme.Text(r.text()))
}

// isDenial reports whether the text of a reply 550 says that there is a file, but not for this user.
func isDenial(text string) bool {
	text = strings.ToLower(text)
	for _, words := range [...]string{"permission denied", "access denied", "access is denied", "not permitted", "prohibited", "not authorized", "forbidden"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
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
		Header: http.Header{"Www-Authenticate": {`Basic realm="` + realm + `", charset="UTF-8"`}},
	}
}
