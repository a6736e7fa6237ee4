package proxy

import (
	"net/http"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/resolver"
)

// AnswerJSON is the document of /api/v1/resolve, and of urnd resolve --json.
type AnswerJSON struct {
	Input     string         `json:"input"`
	Canonical string         `json:"canonical"`
	Service   string         `json:"service"`
	Locations []locationJSON `json:"locations"`
	TTL       int64          `json:"ttl"` // seconds; negative when stale
	Cache     string         `json:"cache"`
	Trace     []stepJSON     `json:"trace,omitempty"`
}

type locationJSON struct {
	URI           string `json:"uri"`
	Source        string `json:"source"`
	Type          string `json:"type,omitempty"`
	Language      string `json:"language,omitempty"`
	Authenticated bool   `json:"authenticated,omitempty"` // by DNSSEC
	Failing       bool   `json:"failing,omitempty"`       // it could not be reached a moment ago
}

type stepJSON struct {
	Stage  string `json:"stage"`
	Detail string `json:"detail"`
	Micros int64  `json:"us"`                // since the query began
	Took   int64  `json:"took_us,omitempty"` // of what took its time
}

// NewAnswerJSON puts an answer into words.
func NewAnswerJSON(q resolver.Query, answer resolver.Answer, trace []resolver.Step) AnswerJSON {
	document := AnswerJSON{
		Input: q.URI.String(), Canonical: answer.Name.String(), Service: q.Service.String(),
		Locations: []locationJSON{}, TTL: seconds(answer.TTL), Cache: answer.Cache.String(), Trace: stepsJSON(trace),
	}
	for _, l := range answer.Locations {
		document.Locations = append(document.Locations, newLocationJSON(l))
	}
	return document
}

// withHealth adds what is known of the servers of locations.
func (h *Handler) withHealth(document AnswerJSON) AnswerJSON {
	for i := range document.Locations {
		document.Locations[i].Failing = h.health.fails(document.Locations[i].URI)
	}
	return document
}

func newLocationJSON(l resolver.Location) locationJSON {
	return locationJSON{URI: l.URI, Source: l.From.Name, Type: l.From.Type, Language: l.From.Language, Authenticated: l.From.Authentic}
}

func stepsJSON(steps []resolver.Step) []stepJSON {
	list := make([]stepJSON, len(steps))
	for i, s := range steps {
		list[i] = stepJSON{Stage: s.Stage, Detail: s.Detail, Micros: s.At.Microseconds(), Took: s.Took.Microseconds()}
	}
	return list
}

// typeTrace asks for the document of the API in place of an answer.
const typeTrace = "application/vnd.urnd.trace+json"

func wantsTrace(r *http.Request) bool {
	accept := r.Header["Accept"]
	if len(accept) == 0 || !strings.Contains(accept[0], typeTrace) {
		return false
	}
	// The client may say that it is the one type which it does not take.
	_, _, err := contenttype.GetAcceptableMediaType(r, []contenttype.MediaType{contenttype.NewMediaType(typeTrace)})
	return err == nil
}

// serveAPI answers with the answer itself, and with every step that led to it.
func (h *Handler) serveAPI(w http.ResponseWriter, r *http.Request, q resolver.Query) {
	ctx, trace := r.Context(), resolver.TraceOf(r.Context())
	if trace == nil {
		ctx, trace = resolver.WithTrace(ctx, h.config.Now)
	}
	answer, err := h.config.Resolver.Resolve(ctx, q)
	if err != nil {
		h.fail(w, r, err, q.URI.String(), trace.Steps())
		return
	}
	eventOf(w).Cache = answer.Cache
	contentType := "application/json"
	if wantsTrace(r) {
		contentType = typeTrace
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Vary", "Accept")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	write(w, r, http.StatusOK, marshal(h.withHealth(NewAnswerJSON(q, answer, trace.Steps()))))
}
