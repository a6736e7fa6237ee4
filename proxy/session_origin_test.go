package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// identityOrigin is an origin that authenticates connections, as IIS does, and Apache with GssapiConnectionBound On:
// by NTLM in three messages, by Negotiate in one. Its responses to a user are publicly cacheable.
type identityOrigin struct {
	*peer

	mu    sync.Mutex
	users map[string]int // the open connections of each user
}

func newIdentityOrigin(t testing.TB) *identityOrigin {
	t.Helper()
	o := &identityOrigin{users: make(map[string]int)}
	o.peer = listenRaw(t, o.serve)
	return o
}

// add changes the number of connections of a user.
func (o *identityOrigin) add(user string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if user != "" {
		o.users[user] += n
	}
}

// openOf returns the number of open connections of a user.
func (o *identityOrigin) openOf(user string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.users[user]
}

func (o *identityOrigin) serve(p *peer, c net.Conn, in *bufio.Reader) {
	user, isChallenged := "", false
	defer func() { o.add(user, -1) }()
	for {
		request, err := readMessage(in)
		if err != nil {
			return
		}
		p.record(request)
		scheme, token, _ := strings.Cut(strings.Join(field(request, "Authorization"), ","), " ")
		next, fields := user, ""
		switch {
		case strings.EqualFold(scheme, "NTLM") && token == "negotiate":
			isChallenged, fields = true, "WWW-Authenticate: NTLM challenge==\r\n"
		case strings.EqualFold(scheme, "NTLM") && isChallenged:
			next = token
		case token != "" && !strings.EqualFold(scheme, "NTLM"): // also schemes that urnd does not know
			next, fields = token, "WWW-Authenticate: Negotiate done==\r\n"
		}
		if next != user {
			o.add(next, 1)
			o.add(user, -1)
			user = next
		}
		_, err = io.WriteString(c, o.answer(request, user, fields))
		if err != nil || strings.HasPrefix(request, "GET /last ") || strings.HasPrefix(request, "GET /drop ") {
			return
		}
	}
}

// answer returns the response to a request of a user, "" for an anonymous one.
func (o *identityOrigin) answer(request, user, fields string) string {
	reported, status, control := "you are "+user, "200 OK", "public, max-age=60"
	switch {
	case strings.HasPrefix(request, "GET /drop "):
		return ""
	case strings.HasPrefix(request, "GET /last "):
		fields += "Connection: close\r\n"
	case strings.HasPrefix(request, "POST "):
		fields += "Content-Location: .\r\n" // the content is that of a GET: RFC 9110 section 9.3.3
	case strings.HasPrefix(request, "GET /open "), strings.HasPrefix(request, "GET /stale "):
		reported, fields = "for all", ""
		if strings.HasPrefix(request, "GET /stale ") {
			control = "public, max-age=0, stale-while-revalidate=60"
		}
		if user != "" {
			reported = "for " + user
		}
	case user == "" && fields == "":
		fields = "WWW-Authenticate: Negotiate, NTLM\r\n"
		if strings.HasPrefix(request, "GET /basic ") {
			fields += "WWW-Authenticate: Basic realm=\"a, NTLM b\", charset=\"UTF-8\", Negotiate\r\n"
		}
	}
	if user == "" && reported != "for all" {
		reported, status, control = "who are you", "401 Unauthorized", "no-store"
	}
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sCache-Control: %s\r\nContent-Length: %d\r\n\r\n%s", status, fields, control,
		len(reported), reported)
}
