package proxy

import (
	_ "embed"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"net/netip"
)

// AdminConfig is what the admin listener works with. All fields but Clients and Token
// must be set.
type AdminConfig struct {
	Clients []netip.Prefix // who may come by TCP; a socket in the file system has its own rights
	// Token is what they must show; nil asks for none, which suits this machine alone.
	Token []byte
	// Certificate is that they must show one that was verified, beside Token where that
	// is set.
	Certificate bool
	Log         *slog.Logger
	Metrics     http.Handler
	Caches      Caches
	// Health returns why the daemon is not ready, and what is not as it should be
	// although it is.
	Health func() (unready, degraded []string)
	// Settings returns the configuration in force. No secret is in it.
	Settings func() any
}

//go:embed openapi_admin.json
var openAPIAdmin []byte

//go:embed openapi_service.json
var openAPIService []byte

// adminEntries is where entries of the cache are looked up and purged.
const adminEntries = "/api/v1/cache/entries"

// admin answers administrators.
type admin struct {
	config AdminConfig
	mux    http.Handler
}

// NewAdmin returns the handler of the admin listener.
func NewAdmin(config AdminConfig) http.Handler {
	a := &admin{config: config}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		sendJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", a.serveReady)
	mux.Handle("GET /metrics", config.Metrics)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) { sendDocument(w, r, openAPIAdmin) })
	mux.HandleFunc("GET /api/v1/cache", func(w http.ResponseWriter, r *http.Request) { sendJSON(w, r, http.StatusOK, config.Caches.Stats()) })
	mux.HandleFunc("GET /api/v1/cache/entries", a.serveLookup)
	mux.HandleFunc("DELETE /api/v1/cache/entries", a.servePurge)
	mux.HandleFunc("GET /api/v1/config", func(w http.ResponseWriter, r *http.Request) { sendJSON(w, r, http.StatusOK, config.Settings()) })
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { writeProblem(w, r, errAdminPath, "", nil) })
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/api/v1/cache", "/api/v1/cache/entries", "/api/v1/config", "/debug/pprof/"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { writeProblem(w, r, errMethod, "", nil) })
	}
	// A page in a browser on this machine must not act for its reader.
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeProblem(w, r, errAdminPage, "", nil) }))
	a.mux = protection.Handler(mux)
	return a
}

func (a *admin) serveReady(w http.ResponseWriter, r *http.Request) {
	unready, degraded := a.config.Health()
	status, word := http.StatusOK, "ready"
	if len(unready) > 0 {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	sendJSON(w, r, status, map[string]any{"status": word, "unready": notNil(unready), "degraded": notNil(degraded)})
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func sendJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	write(w, r, status, marshal(v))
}

func sendDocument(w http.ResponseWriter, r *http.Request, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	write(w, r, http.StatusOK, text)
}
