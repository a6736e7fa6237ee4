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

// server is one that is asked.
type server struct {
	Server
	login
	named bool // by the URL
}

// target is what a URL names.
type target struct {
	servers   []server
	links     links
	private   bool // the URL has a user
	group     string
	messageID string // without angle brackets
	number    string // of an article in the group
	query     uri.NewsQuery
}

// isArticle reports whether the target is an article, or a part of one.
func (t target) isArticle() bool { return t.messageID != "" || t.number != "" }

// isPattern reports whether the target is a set of groups.
func (t target) isPattern() bool { return !t.isArticle() && strings.ContainsAny(t.group, "*?") }

// newTarget returns the target of a request, whose URI is well formed.
func (h *Handler) newTarget(r scheme.Request) (target, error) {
	u := r.URI.Normalize() // of the host
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

// isPortTLS reports whether TLS is spoken at a port from the start: RFC 4642 section 1.
func isPortTLS(port string) bool {
	const portTLS = 563
	number, err := strconv.ParseUint(port, 10, 16) // it may begin with zeros
	return err == nil && number == portTLS
}

// configured returns a target with the servers of the configuration.
func (h *Handler) configured(t target) target {
	for _, s := range h.config.Servers {
		t.servers = append(t.servers, server{Server: s, login: login{h.config.User, h.config.Password}})
	}
	return t
}

// refuse returns the error for a server that wants a login, or another one.
func (s server) refuse(reply string) error {
	if !s.named {
		return scheme.Refuse(http.StatusForbidden, reply)
	}
	host, _, _ := net.SplitHostPort(s.Address) // it was joined
	return &scheme.Refusal{
		Status: http.StatusUnauthorized, Reply: reply,
		Fields: httpmessage.FieldsOf("Www-Authenticate", fmt.Sprintf(`Basic realm="news server %s", charset="UTF-8"`, host)),
	}
}
