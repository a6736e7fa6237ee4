package status

import (
	"embed"
	"log/slog"
	"net/http"

	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
)

//go:embed *.html status.js
var files embed.FS

// The paths of the pages for operators.
const (
	PathStatus = "/status"
	pathScript = "/status.js"
	pathConfig = "/config"
	pathCaches = "/caches"
)

// reload is after how many seconds a browser without scripts loads the state again; with scripts, it is shown anew twice as often.
const reload = 20

// Config configures the pages for operators. All fields must be set, and safe for concurrent use.
type Config struct {
	State func() State
	// Settings returns the configuration in force, without secrets.
	Settings func() []Section
	Caches   Caches
	Show     func(p *pages.Panel) message.Reply
	Log      *slog.Logger
}

// maker makes the pages. It is safe for concurrent use.
type maker struct {
	Config
	contents pages.Contents
}

// Pages returns the pages for operators.
func Pages(c Config) []page.Page {
	m := maker{c, pages.NewContents(files)}
	return []page.Page{
		{Path: PathStatus, Word: "State", About: "the state of urnd", Serve: page.Reading(m.serveStatus)},
		{Path: pathConfig, Word: "Configuration", About: "the configuration in force, with the origin of each value", Serve: page.Reading(m.serveSettings)},
		{Path: pathCaches, Word: "Caches", About: "what is cached for a name or a URL, and forms that purge it", Serve: m.serveCaches},
		{Path: pathScript, Serve: page.Reading(serveScript)},
	}
}

// serveStatus shows the state of urnd.
func (m maker) serveStatus(r *page.Request) (message.Reply, error) {
	panel := r.Panel
	panel.In, panel.Address = pages.Writer{}, "" // it is in English alone
	panel.Title, panel.Sheet, panel.Script, panel.Reload = "State of urnd", pages.Tables, pathScript, reload
	panel.Content = m.contents.Make(pages.English, "status.html", m.State())
	return m.Show(&panel), nil
}

// serveSettings shows the configuration in force.
func (m maker) serveSettings(r *page.Request) (message.Reply, error) {
	panel, given := r.Panel, r.URL.Query()
	panel.In, panel.Address = pages.Writer{}, "" // it is in English alone
	panel.Title, panel.Sheet = "Configuration in force", pages.Tables
	panel.Content = m.contents.Make(pages.English, "config.html", newSettingsView(m.Settings(), query{given.Get("q"), given.Get("section")}))
	return m.Show(&panel), nil
}

// serveScript serves the script of the state.
func serveScript(*page.Request) (message.Reply, error) {
	script, err := files.ReadFile("status.js")
	return message.Reply{Status: http.StatusOK, ContentType: "text/javascript; charset=utf-8", CacheControl: "no-cache", Body: script}, err
}

// escapedLength returns about how many bytes a text has in a page.
func escapedLength(text string) int {
	const more = 4 // of "&#34;" and the like
	n := len(text)
	for i := range len(text) {
		switch text[i] {
		case '<', '>', '&', '"', '\'', '+', 0:
			n += more
		}
	}
	return n
}
