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

// Paths of the pages for operators.
const (
	PathStatus = "/status"
	pathScript = "/status.js"
	pathConfig = "/config"
	pathCaches = "/caches"
)

// reload is the interval in seconds at which a browser without scripts reloads the state; scripts refresh it
// twice as often.
const reload = 20

// Config configures the pages for operators. All fields must be set, and safe for concurrent use.
type Config struct {
	// State returns the state in the language of a writer.
	State func(in pages.Writer) State
	// Settings returns the configuration in force, without secrets.
	Settings func() []Section
	Caches   Caches
	Show     func(p *pages.Panel) message.Reply
	Log      *slog.Logger
}

// handler serves the pages. It is safe for concurrent use.
type handler struct {
	Config
	contents pages.Contents
}

// Pages returns the pages for operators.
func Pages(c Config) []page.Page {
	m := handler{c, pages.NewContents(files)}
	return []page.Page{
		{Path: PathStatus, Label: "nav.state", Description: "nav.about_state", Serve: page.ReadOnly(m.serveStatus)},
		{
			Path: pathConfig, Label: "nav.settings", Description: "nav.about_settings",
			Serve: page.ReadOnly(m.serveSettings),
		},
		{Path: pathCaches, Label: "nav.caches", Description: "nav.about_caches", Serve: m.serveCaches},
		{Path: pathScript, Serve: page.ReadOnly(serveScript)},
	}
}

// serveStatus shows the state of urnd.
func (m handler) serveStatus(r *page.Request) (message.Reply, error) {
	panel := r.Panel
	panel.Title, panel.Sheet, panel.Script, panel.Reload = panel.Writer.Text("state.title"), pages.Tables, pathScript,
		reload
	panel.Content = m.contents.Make(panel.Writer.Language(), "status.html", m.State(panel.Writer))
	return m.Show(&panel), nil
}

// serveSettings shows the configuration in force.
func (m handler) serveSettings(r *page.Request) (message.Reply, error) {
	panel, given := r.Panel, r.URL.Query()
	panel.Title, panel.Sheet = panel.Writer.Text("settings.title"), pages.Tables
	view := newSettingsView(panel.Writer, m.Settings(), query{given.Get("q"), given.Get("section")})
	panel.Content = m.contents.Make(panel.Writer.Language(), "config.html", view)
	return m.Show(&panel), nil
}

// serveScript serves the script of the state.
func serveScript(*page.Request) (message.Reply, error) {
	script, err := files.ReadFile("status.js")
	return message.Reply{
		Status: http.StatusOK, ContentType: "text/javascript; charset=utf-8", CacheControl: "no-cache",
		Body: script,
	}, err
}

// escapedLength estimates the bytes of a text in HTML.
func escapedLength(text string) int {
	const more = 4 // additional bytes of an entity such as "&#34;"
	n := len(text)
	for i := range len(text) {
		switch text[i] {
		case '<', '>', '&', '"', '\'', '+', 0:
			n += more
		}
	}
	return n
}
