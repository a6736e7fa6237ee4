// Package admin answers administrators: health, metrics, caches, the configuration.
package admin

import (
	_ "embed"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// Config configures a Handler. All fields but Clients, Proxies, Own, Token, Certificate, Public and Registry
// must be set.
type Config struct {
	Clients []netip.Prefix // clients that may connect by TCP; a Unix socket is protected by file permissions
	Proxies []netip.Prefix // proxies in front that are trusted to name their client
	Own     route.OwnHosts
	// Token is the bearer token of administrators; nil requires none, which is only safe on loopback.
	Token []byte
	// Certificate requires a verified client certificate, in addition to Token where that is
	// set.
	Certificate bool
	Log         *slog.Logger
	Metrics     http.Handler
	Caches      Caches
	Responses   Responses
	// HasResponses reports whether responses are stored for the URIs of a scheme, in lower case. Of others, which are names,
	// there are answers.
	HasResponses func(scheme string) bool
	// Public is the URL by which readers reach the service, without a slash at its end; "" where it is not known.
	Public   string
	Registry *Registry     // nil: there is none
	Pages    *pages.Design // nil: those of urnd without settings
	// Panicked is called with a panic that was recovered, and its stack.
	Panicked func(value any, stack []byte)
	// Sessions are those of all configurations.
	Sessions *session.Sessions
	// Health returns why the daemon is not ready, and what is wrong although it is.
	Health   func() (unready, degraded []string)
	Settings Settings
	Status   Status
}

//go:embed openapi.json
var openAPI []byte

// Handler answers administrators. It is safe for concurrent use.
type Handler struct {
	config      Config
	login       pages.Contents
	operations  []operation
	subscribers quota.Semaphore // of events, which are for administrators alone
	left        chan struct{}   // closed by leave
	leave       sync.Once
}

// New returns a Handler.
func New(config Config) *Handler {
	if config.Pages == nil {
		config.Pages = pages.New(pages.Site{})
	}
	config.Pages = config.Pages.Apart()
	h := &Handler{
		config: config, login: pages.NewContents(loginFiles), left: make(chan struct{}),
		subscribers: make(quota.Semaphore, maxSubscribers),
	}
	h.operations = slices.Concat(h.operatorOperations(), h.ownOperations(), h.registryOperations(), h.editorOperations(), h.docsOperations())
	return h
}

// ownOperations are those on the daemon.
func (h *Handler) ownOperations() []operation {
	profiles := profiles{make(quota.Semaphore, 1), h.fail}
	return []operation{
		{method: "GET", path: "/", isPage: true, serve: h.serveIndex},
		{path: pathLogin, isOpen: true, page: h.loginPage},
		{path: pathLogout, isOpen: true, page: h.logout},
		{method: "GET", path: "/healthz", about: "whether urnd runs", isOpen: true, serve: h.showing(func() any { return map[string]string{"status": "ok"} })},
		{method: "GET", path: "/readyz", about: "whether it is ready, and what is wrong although it is", isOpen: true, serve: h.serveReady},
		{method: "GET", path: "/metrics", about: "metrics for Prometheus", serve: h.config.Metrics.ServeHTTP},
		{method: "GET", path: "/api/v1/cache", about: "what the caches hold", serve: h.showing(h.config.Caches.Stats)},
		{
			method: "GET", path: "/api/v1/cache/entries", example: "?uri=urn:ietf:rfc:2648",
			about: "the cached answers for a name; DELETE purges them", serve: h.serveLookup,
		},
		{method: "DELETE", path: "/api/v1/cache/entries", serve: h.servePurge},
		{
			method: "GET", path: "/api/v1/responses", example: "?uri=http://example.org/",
			about: "the stored responses for a URL; DELETE purges them", serve: h.serveResponses,
		},
		{method: "DELETE", path: "/api/v1/responses", serve: h.servePurgeResponses},
		{method: "GET", path: "/api/v1/config", about: "the configuration in force, as JSON", serve: h.serveConfig},
		{method: "GET", path: "/openapi.json", about: "the description of this interface", serve: h.serveOpenAPI},
		{method: "GET", path: "/debug/pprof/cmdline", serve: pprof.Cmdline},
		{method: "GET", path: "/debug/pprof/profile", serve: profiles.bounded(pprof.Profile)},
		{method: "GET", path: "/debug/pprof/symbol", serve: pprof.Symbol},
		{method: "GET", path: "/debug/pprof/trace", serve: profiles.bounded(pprof.Trace)},
		{method: "GET", path: "/debug/pprof/", about: "profiles of the Go runtime", serve: profiles.bounded(pprof.Index)},
	}
}

// serveIndex lists what there is, for people.
func (h *Handler) serveIndex(w http.ResponseWriter, r *http.Request) {
	var paths [][2]string
	for _, o := range h.operations {
		if o.about != "" {
			paths = append(paths, [2]string{o.path + o.example, o.about})
		}
	}
	h.write(w, r, message.Reply{
		Status: http.StatusOK, CacheControl: message.NoStore,
	}.WithPage(message.Page(h.config.Pages.Index("urnd: administration", paths))))
}

func (h *Handler) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	h.write(w, r, message.Reply{Status: http.StatusOK, ContentType: "application/json", Body: openAPI})
}

// showing returns a handler that sends what get returns.
func (h *Handler) showing(get func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.write(w, r, message.JSON(http.StatusOK, get()))
	}
}

func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	h.write(w, r, h.problem(r, err))
}

// problem returns the reply to a request that failed: a page for browsers, but for those of the API.
func (h *Handler) problem(r *http.Request, err error) message.Reply {
	if route.IsAPI(r.URL.Path) {
		return problem.Reply(h.config.Pages, nil, err)
	}
	return problem.Reply(h.config.Pages, httpmessage.LinesOf(r.Header), err)
}

// write sends a reply as the preconditions of its request want it.
func (h *Handler) write(w http.ResponseWriter, r *http.Request, reply message.Reply) {
	switch reply.Precondition(r.Method, httpmessage.LinesOf(r.Header)) {
	case http.StatusNotModified:
		reply = reply.NotModified()
	case http.StatusPreconditionFailed:
		if reply.Close != nil {
			reply.Close()
		}
		reply = h.problem(r, problem.ErrUnmatched)
	}
	send(w, r.Method, reply)
}

// send sends a reply by net/http, with the fields that are set in w already.
func send(w http.ResponseWriter, method string, reply message.Reply) {
	if reply.Close != nil {
		defer reply.Close()
	}
	reply.AppendFields(nil, nil).CopyTo(w.Header())
	w.WriteHeader(reply.Status)
	switch {
	case method == http.MethodHead:
	case reply.Stream == nil && len(reply.Body) > 0:
		_, _ = w.Write(reply.Body) // it fails only where the client left
	case reply.Stream != nil:
		control := http.NewResponseController(w)
		if reply.Stream(stream{w, control}) != nil {
			_ = control.SetWriteDeadline(time.Unix(1, 0)) // the part must not look complete
		}
	}
}

// stream is the response of net/http as a message.Stream.
type stream struct {
	io.Writer
	*http.ResponseController
}

// Flush implements message.Stream.
func (s stream) Flush() error { return s.ResponseController.Flush() }

func (h *Handler) serveReady(w http.ResponseWriter, r *http.Request) {
	unready, degraded := h.config.Health()
	status, word := http.StatusOK, "ready"
	if len(unready) > 0 {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	document := map[string]any{"status": word, "unready": notNil(unready), "degraded": notNil(degraded)}
	h.write(w, r, message.JSON(status, document))
}

// notNil makes nil an empty list in JSON.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
