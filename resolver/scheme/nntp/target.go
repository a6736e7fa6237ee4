package nntp

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// server is a server to query, with the login.
type server struct {
	Server
	login
	named bool // the URL names the server
}

// target is the parsed target of a URL.
type target struct {
	servers   []server
	links     links
	private   bool // the URL has a userinfo
	group     string
	messageID string // without angle brackets
	number    string // article number in the group
	query     uri.NewsQuery
}

// isArticle reports whether the target is an article, or a part of one.
func (t target) isArticle() bool { return t.messageID != "" || t.number != "" }

// isPattern reports whether the target is a set of groups.
func (t target) isPattern() bool { return !t.isArticle() && strings.ContainsAny(t.group, "*?") }

// newTarget returns the target of a request, whose URI must be well-formed.
func (h *Handler) newTarget(r scheme.Request) (target, error) {
	u := r.URI.Normalize() // normalizes the host
	t := target{links: newLinks(u)}
	if u.Scheme() == "nntp" {
		parts, err := u.NNTP()
		if err != nil {
			return target{}, fmt.Errorf("parsing the URL: %w", err)
		}
		t.group, t.number, t.query = parts.Group, parts.Article, parts.Query
	} else {
		parts, err := u.News()
		if err != nil {
			return target{}, fmt.Errorf("parsing the URL: %w", err)
		}
		t.group, t.messageID, t.query = parts.Group, parts.MessageID, parts.Query
	}
	host, hasHost := u.Host()
	if !hasHost {
		return h.configured(t), nil
	}
	_, t.private = u.Userinfo()
	credentials, err := loginOf(r, u)
	if err != nil {
		return target{}, err
	}
	port, _ := u.Port()
	if port == "" {
		port = u.DefaultPort()
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	t.servers = []server{{
		Server: Server{Address: net.JoinHostPort(host, port), TLS: isPortTLS(port)}, login: credentials, named: true,
	}}
	return t, nil
}

// isPortTLS reports whether a port uses TLS from the start: RFC 4642 section 1.
func isPortTLS(port string) bool {
	const portTLS = 563
	number, err := strconv.ParseUint(port, 10, 16) // may have leading zeros
	return err == nil && number == portTLS
}

// configured returns the target with the configured servers.
func (h *Handler) configured(t target) target {
	for _, s := range h.config.Servers {
		t.servers = append(t.servers, server{Server: s, login: login{h.config.User, h.config.Password}})
	}
	return t
}

// refuse returns the error for a login that is missing or rejected. Only a login at a server in the URL can be
// supplied by the client, so only that is a 401.
func (s server) refuse(reply string) error {
	if !s.named {
		return scheme.UpstreamError(http.StatusForbidden, reply)
	}
	host, _, _ := net.SplitHostPort(s.Address) // made by JoinHostPort
	return &scheme.StatusError{
		Status: http.StatusUnauthorized, Reply: reply,
		Fields: httpmessage.NewFields("Www-Authenticate",
			fmt.Sprintf(`Basic realm="news server %s", charset="UTF-8"`, host)),
	}
}
