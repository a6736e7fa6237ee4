package admin

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
)

// Status is the state of urnd on its page. All fields must be set, and safe for concurrent use.
type Status struct {
	// Tables returns the state. The headings and columns are always the same.
	Tables func() []pages.Table
	// Ticks returns a channel that gets a value at each interval, until stop is called, as that of a time.Ticker.
	Ticks func(interval time.Duration) (ticks <-chan time.Time, stop func())
	// Deadline returns the time after a duration, for the network.
	Deadline func(after time.Duration) time.Time
}

// The paths of the page, of its script, and of the events that the script follows.
const (
	pathStatus = "/status"
	pathScript = "/status.js"
	pathEvents = "/events"
)

//go:embed status.js
var statusScript []byte

// serveStatus shows the state of urnd to people.
func (h *Handler) serveStatus(w http.ResponseWriter, r *http.Request) {
	page := h.config.Pages.Status("urnd: state", pathStatus, pathScript, h.config.Status.Tables(), [][2]string{
		{"/api/v1/config", "the configuration in force"},
		{"/api/v1/cache", "what the caches hold, as JSON"},
		{"/metrics", "all figures, for Prometheus"},
		{"/", "all that is here"},
	})
	message.Write(w, r.Method, message.Reply{Status: http.StatusOK, CacheControl: message.NoStore}.WithPage(message.Page(page)))
}

func serveStatusScript(w http.ResponseWriter, r *http.Request) {
	message.Write(w, r.Method, message.Reply{
		Status: http.StatusOK, ContentType: "text/javascript; charset=utf-8", CacheControl: "no-cache", Body: statusScript,
	})
}
