package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// forwardTo forwards a request of a proxy client for a target, by the rules of the site.
func (h *Handler) forwardTo(x *exchange, u uri.URI, target string) error {
	if err := h.mayForward(x); err != nil {
		return err
	}
	asked, err := policy.NewRequest(x.client.Addr, x.user, x.request.Method, u)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	verdict, err := h.judge(x, asked)
	if err != nil {
		return err
	}
	u = u.WithoutFragment()
	key := u.Normalize()
	isOdd := key != u || isAbsoluteWeb(target) && oddSpelling(target, key) != ""
	if isOdd && h.config.Spelling == SpellingRedirect && isGet(x.request) {
		h.reply(x, message.Reply{Status: http.StatusPermanentRedirect, Location: key.String(), CacheControl: message.MaxAge(h.config.RuleTTL)})
		return nil
	}
	return h.forwardRequest(x, &forward.Request{Key: key, Target: normalTarget(x.request.Method, u), Spelling: h.config.Spelling.of(target, key)}, verdict)
}

// forwardRequest forwards a request, whose client may.
func (h *Handler) forwardRequest(x *exchange, r *forward.Request, v *verdict) error {
	r.Request, r.Client, r.Share, r.Check = x.request, x.client.Addr, x.client.Addr, v.check()
	r.Session, r.Ended = h.session(x), listen.Ended(x.request)
	r.Trusted = message.Contains(h.config.Access.Trusted, x.client.Peer)
	if x.client.Unknown {
		r.Client = netip.Addr{} // that is the proxy
	}
	if x.request.Method == methodPurge {
		return h.purge(x, r.Key)
	}
	if s := h.gateway.siteOf(r.Key); s != nil && !r.Server.IsValid() {
		h.gateway.sendTo(s, r)
	}
	word, err := h.forward.Serve(x, r)
	x.event.Cache, x.event.Rule = word, v.rule()
	return err //nolint:wrapcheck // forward has done so
}

// verdict is what the rules of the site say of a request. The address that is dialled may decide it
// in the background, after the end of the exchange.
type verdict struct {
	handler *Handler
	asked   policy.Request
	depends bool                   // on the address
	decided atomic.Pointer[string] // the id of the rule
}

// judge decides a request by the rules of the site, as far as it does not depend on the address that
// is dialled.
func (h *Handler) judge(x *exchange, asked policy.Request) (*verdict, error) {
	v := &verdict{handler: h, asked: asked}
	decision := h.config.Policy.Decide(asked)
	if v.depends = !decision.Final; v.depends {
		return v, nil
	}
	x.event.Rule = decision.Rule
	v.decided.Store(&decision.Rule)
	return v, h.enforce(asked, decision)
}

// check returns what decides the rest, nil for nothing.
func (v *verdict) check() func(netip.AddrPort) error {
	if !v.depends {
		return nil
	}
	return func(at netip.AddrPort) error {
		decision := v.handler.config.Policy.DecideFor(v.asked, at.Addr())
		v.decided.Store(&decision.Rule)
		return v.handler.enforce(v.asked, decision)
	}
}

// rule returns the id of the rule that decided, "" for none.
func (v *verdict) rule() string {
	if id := v.decided.Load(); id != nil {
		return *id
	}
	return ""
}

// enforce returns the error for a request that a rule denies, and logs it. It may be called after
// the end of the exchange.
func (h *Handler) enforce(asked policy.Request, decision policy.Decision) error {
	err := h.config.Policy.Err(decision)
	if decision.Deny {
		text := "a rule of the site denies a request"
		if err == nil {
			text = "a rule of the site would deny a request"
		}
		h.config.Log.Info(text, "rule", decision.Rule, "client", asked.Client, "user", asked.User, "method", asked.Method, "scheme", asked.Scheme, "host", asked.Host, "port", asked.Port)
	}
	return err //nolint:wrapcheck // it says all
}

var errPort = errors.New("there is no port 0")

// connect opens a tunnel for a proxy client.
func (h *Handler) connect(x *exchange) error {
	x.event.Form = "connect"
	if err := h.mayForward(x); err != nil {
		return err
	}
	asked, err := policy.NewConnect(x.client.Addr, x.user, x.request.RequestURI)
	if x.request.ProtoMajor == 2 {
		asked, err = policy.NewConnect(x.client.Addr, x.user, x.request.Host)
	}
	if err == nil && asked.Port == 0 {
		err = errPort
	}
	if err != nil {
		return fmt.Errorf("%w: %w", problem.ErrMalformed, err)
	}
	v, err := h.judge(x, asked)
	if err != nil {
		return err
	}
	r := &forward.Request{Request: x.request, Client: x.client.Addr, Share: x.client.Addr, Check: v.check()}
	carried, err := h.forward.Connect(x, r, forward.Target{Host: asked.Host, Port: asked.Port})
	x.event.Bytes += carried
	x.event.Rule = v.rule()
	return err //nolint:wrapcheck // forward has done so
}

// streamTarget returns the absolute target of a request that a client sent to the proxy by HTTP/2,
// where the target URI is in several fields, and "" for one that is for urnd itself: by the name of
// its certificate, by one of its own, or from a client that may not use the proxy. A scheme other
// than http comes by CONNECT.
func (h *Handler) streamTarget(x *exchange) string {
	r := x.request
	if r.ProtoMajor != 2 || r.Method == http.MethodConnect || !strings.HasPrefix(r.RequestURI, "/") || r.Host == "" || h.isOwnStream(r) {
		return ""
	}
	if x.client.Relayed || !message.Contains(h.config.Access.Proxy, x.client.Addr) {
		return ""
	}
	x.client.Misled = false // a page that is led here has a certificate of its host, which this is not
	return "http://" + r.Host + r.RequestURI
}

// isOwnStream reports whether a request by HTTP/2 names urnd itself, and not another server on the same
// machine. A client that reached urnd without naming it, in the TLS handshake, may mean it by any name.
func (h *Handler) isOwnStream(r *http.Request) bool {
	if r.TLS != nil && (r.TLS.ServerName == "" || strings.EqualFold(hostOf(r.Host), r.TLS.ServerName)) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return h.config.Access.Own.Has(r.Host) // a Unix socket
	}
	localHost, localPort, err := net.SplitHostPort(local.String())
	host, port := r.Host, localPort
	if name, number, splitErr := net.SplitHostPort(r.Host); splitErr == nil {
		host, port = name, number
	}
	host = strings.Trim(host, "[]")
	if _, notName := netip.ParseAddr(host); notName == nil {
		return err != nil || port == localPort && host == localHost
	}
	return h.config.Access.Own.Has(host) && (err != nil || port == localPort)
}

// hostOf returns the host of a Host field, without its port.
func hostOf(field string) string {
	if i := strings.LastIndexByte(field, ':'); i >= 0 && !strings.HasSuffix(field, "]") {
		return field[:i]
	}
	return field
}
