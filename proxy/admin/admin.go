// Package admin answers administrators: health, metrics, caches, the configuration.
package admin

import (
	_ "embed"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"net/netip"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// Config configures a Handler. All fields but Clients, Proxies, Own, Token, Certificate and Registry
// must be set.
type Config struct {
	Clients []netip.Prefix // clients that may connect by TCP; a Unix socket is protected by file permissions
	Proxies []netip.Prefix // proxies in front that are trusted to name their client
	Own     route.OwnHosts
	// Guesses slow down who guesses the token.
	Guesses Guesses
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
	Registry     *Registry // nil: there is none
	// Panicked is called with a panic that was recovered, and its stack.
	Panicked func(value any, stack []byte)
	// Health returns why the daemon is not ready, and what is wrong although it is.
	Health func() (unready, degraded []string)
	// Settings returns the configuration in force, without secrets.
	Settings func() any
}

// Guesses are wrong tokens by client and account: administrators have one, and each token of the registry is one.
type Guesses interface {
	// Stopped reports whether what a client sends is not even looked at.
	Stopped(client netip.Addr, account string) bool
	// Wrong and Right record an outcome, and report whether the client may learn it.
	Wrong(client netip.Addr, account string) bool
	Right(client netip.Addr, account string) bool
}

//go:embed openapi.json
var openAPI []byte

// Handler answers administrators. It is safe for concurrent use.
type Handler struct {
	config   Config
	routes   http.Handler
	registry []registryRoute
}

// New returns a Handler.
func New(config Config) *Handler {
	h := &Handler{config: config}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		message.Write(w, r.Method, message.Reply{Status: http.StatusOK, ContentType: pages.ContentType, CacheControl: message.NoStore, Body: pages.Index("urnd: administration", paths())})
	})
	mux.HandleFunc("GET /healthz", showing(func() any { return map[string]string{"status": "ok"} }))
	mux.HandleFunc("GET /readyz", h.serveReady)
	mux.Handle("GET /metrics", config.Metrics)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		message.Write(w, r.Method, message.Reply{Status: http.StatusOK, ContentType: "application/json", Body: openAPI})
	})
	mux.HandleFunc("GET /api/v1/cache", showing(config.Caches.Stats))
	mux.HandleFunc("GET /api/v1/cache/entries", h.serveLookup)
	mux.HandleFunc("DELETE /api/v1/cache/entries", h.servePurge)
	mux.HandleFunc("GET /api/v1/responses", h.serveResponses)
	mux.HandleFunc("DELETE /api/v1/responses", h.servePurgeResponses)
	mux.HandleFunc("GET /api/v1/config", showing(config.Settings))
	profiles := profiles{make(resolver.Slots, 1)}
	mux.HandleFunc("GET /debug/pprof/", profiles.bounded(pprof.Index))
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", profiles.bounded(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", profiles.bounded(pprof.Trace))
	mux.HandleFunc("/", failing(problem.ErrAdminPath))
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/api/v1/cache", "/api/v1/config", "/debug/pprof/"} {
		mux.HandleFunc(path, notAllowed("GET, HEAD"))
	}
	for _, path := range []string{"/api/v1/cache/entries", "/api/v1/responses"} {
		mux.HandleFunc(path, notAllowed("GET, HEAD, DELETE"))
	}
	h.routes = mux
	h.registry = h.registryRoutes()
	return h
}

// paths are what the admin interface has, for its root page.
func paths() [][2]string {
	return [][2]string{
		{"/healthz", "whether urnd runs"},
		{"/readyz", "whether it is ready, and what is wrong although it is"},
		{"/metrics", "metrics for Prometheus"},
		{"/api/v1/cache", "what the caches hold"},
		{"/api/v1/cache/entries?uri=urn:ietf:rfc:2648", "the cached answers for a name; DELETE purges them"},
		{"/api/v1/responses?uri=http://example.org/", "the stored responses for a URL; DELETE purges them"},
		{"/api/v1/names?prefix=urn:", "the names that the site owns; PUT, PATCH and POST change them"},
		{"/api/v1/prefixes", "the prefixes that it owns"},
		{"/api/v1/jobs", "imports of many names"},
		{"/api/v1/config", "the configuration in force"},
		{"/openapi.json", "the description of this interface"},
		{"/debug/pprof/", "profiles of the Go runtime"},
	}
}

// showing returns a handler that sends what get returns.
func showing(get func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		message.Write(w, r.Method, message.JSON(http.StatusOK, get()))
	}
}

// failing returns a handler that answers an error.
func failing(err error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { fail(w, r, err) }
}

// notAllowed returns a handler of other methods than those of a path.
func notAllowed(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { fail(w, r, problem.NotAllowed(r.Method, allow)) }
}

func fail(w http.ResponseWriter, r *http.Request, err error) {
	message.Write(w, r.Method, problem.Reply(r.Header, err))
}

func (h *Handler) serveReady(w http.ResponseWriter, r *http.Request) {
	unready, degraded := h.config.Health()
	status, word := http.StatusOK, "ready"
	if len(unready) > 0 {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	document := map[string]any{"status": word, "unready": notNil(unready), "degraded": notNil(degraded)}
	message.Write(w, r.Method, message.JSON(status, document))
}

// notNil makes nil an empty list in JSON.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
