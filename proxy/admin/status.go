package admin

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
)

// Status is the state of urnd on its page. All fields must be set, and safe for concurrent use.
type Status struct {
	// State returns the state. The headings and columns of its tables are always the same.
	State func() pages.State
	// Faults returns the recent faults.
	Faults func() []pages.Table
	// Ticks returns a channel that gets a value at each interval, until stop is called, as that of a time.Ticker.
	Ticks func(interval time.Duration) (ticks <-chan time.Time, stop func())
	// Deadline returns the time after a duration, for the network.
	Deadline func(after time.Duration) time.Time
}

// Settings are the configuration in force, without secrets. All fields must be set, and safe for concurrent use.
type Settings struct {
	Plain    func() any // by section
	Origins  func() any // each setting with its origin, as JSON has them
	Sections func() []pages.Section
}

// The paths of the pages for operators, of the script of the first one, and of the events that the script follows.
const (
	pathStatus = "/status"
	pathScript = "/status.js"
	pathEvents = "/events"
	pathFaults = "/faults"
	pathConfig = "/config"
	pathCaches = "/caches"
)

//go:embed status.js
var statusScript []byte

// operatorOperations are the pages for operators.
func (h *Handler) operatorOperations() []operation {
	return []operation{
		{path: pathStatus, nav: "State", about: "the state of urnd, live", page: reading(h.statusPage)},
		{path: pathFaults, nav: "Faults", about: "the last warnings and errors", page: reading(h.faultsPage)},
		{path: pathConfig, nav: "Configuration", about: "the configuration in force, with the origin of each value", page: reading(h.settingsPage)},
		{path: pathCaches, nav: "Caches", about: "what the caches hold, and forms that purge it", page: h.cachesPage()},
		{method: "GET", path: pathScript, serve: h.serveStatusScript},
		{method: "GET", path: pathEvents, serve: h.serveEvents},
	}
}

// reading returns a page that has no form to send.
func reading(page func(p *editor.Request) pages.Page) func(p *editor.Request) (message.Reply, error) {
	return func(p *editor.Request) (message.Reply, error) {
		if p.Method == http.MethodPost {
			return message.Reply{}, problem.NotAllowed(p.Method, "GET, HEAD")
		}
		return message.Reply{Status: http.StatusOK, CacheControl: message.NoStore}.WithPage(message.Page(page(p))), nil
	}
}

// statusPage shows the state of urnd to people.
func (h *Handler) statusPage(p *editor.Request) pages.Page {
	panel := p.Panel
	panel.Title, panel.Script = "urnd: state", pathScript
	return h.config.Pages.Status(&panel, h.config.Status.State(), [][2]string{
		{pathCaches, "what the caches hold for a name, and forms that purge it"},
		{"/api/v1/cache", "what the caches hold, as JSON"},
		{"/metrics", "all figures, for Prometheus"},
		{"/", "all that is here"},
	})
}

// faultsPage shows the recent faults to people.
func (h *Handler) faultsPage(p *editor.Request) pages.Page {
	panel := p.Panel
	panel.Title = "Recent faults"
	const about = "The last 50 warnings and errors of the log since urnd was started, in memory. The same message with the same details is counted."
	return h.config.Pages.Tables(&panel, about, h.config.Status.Faults())
}

// settingsPage shows the configuration in force to people.
func (h *Handler) settingsPage(p *editor.Request) pages.Page {
	panel, given := p.Panel, p.URL.Query()
	panel.Title = "Configuration in force"
	return h.config.Pages.Settings(&panel, h.config.Settings.Sections(), pages.SettingsQuery{Text: given.Get("q"), Section: given.Get("section")})
}

// serveConfig sends the configuration in force to programs.
func (h *Handler) serveConfig(w http.ResponseWriter, r *http.Request) {
	get := h.config.Settings.Plain
	if value := r.URL.Query().Get("origins"); value != "" {
		is, err := boolean("origins", value)
		if err != nil {
			h.fail(w, r, err)
			return
		}
		if is {
			get = h.config.Settings.Origins
		}
	}
	h.write(w, r, message.JSON(http.StatusOK, get()))
}

func (h *Handler) serveStatusScript(w http.ResponseWriter, r *http.Request) {
	h.write(w, r, message.Reply{
		Status: http.StatusOK, ContentType: "text/javascript; charset=utf-8", CacheControl: "no-cache", Body: statusScript,
	})
}
