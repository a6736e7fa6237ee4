// Package admin admits administrators and editors to what they may do, by tokens and sessions: the API, and the pages for people.
package admin

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/registry/service"
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
	Caches      api.Caches
	Responses   api.Responses
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
	State    func(in pages.Writer) status.State
}

// Registry is what clients do with the names that the site owns. All fields must be set.
type Registry struct {
	*service.Service
	// Drafts are the files that people have sent by forms, of all configurations.
	Drafts *editor.Drafts
	// ChecksTargets is whether it is looked now and then whether targets answer.
	ChecksTargets bool
}

// Settings are the configuration in force, without secrets. All fields must be set, and safe for concurrent use.
type Settings struct {
	Plain    func() any // by section
	Origins  func() any // each setting with its origin, as JSON has them
	Sections func() []status.Section
}

// Handler answers administrators. It is safe for concurrent use.
type Handler struct {
	page.Writer

	config   Config
	contents pages.Contents
	api      *api.API
	pages    []page.Page
}

// New returns a Handler.
func New(config Config) *Handler {
	design := cmp.Or(config.Pages, pages.New(pages.Site{})).Apart()
	h := &Handler{config: config, contents: pages.NewContents(files), Writer: page.Writer{Design: design}}
	programs := api.Config{
		Log: config.Log, Metrics: config.Metrics, Caches: config.Caches, Responses: config.Responses, HasResponses: config.HasResponses,
		Health: config.Health, Settings: config.Settings.Plain, Origins: config.Settings.Origins, Failed: h.logFailure,
		Revoked: config.Sessions.EndToken, Writer: h.Writer,
	}
	if config.Registry != nil {
		programs.Service = config.Registry.Service
	}
	h.api = api.New(programs)
	h.pages = append(h.ownPages(), status.Pages(status.Config{
		State: config.State, Settings: config.Settings.Sections, Caches: h.api, Show: h.Show, Log: config.Log,
	})...)
	h.pages = append(h.pages, h.editorPages()...)
	return h
}

// ownPages are those of the handler itself.
func (h *Handler) ownPages() []page.Page {
	docs := page.Reading(h.docsPage())
	return []page.Page{
		{Path: "/", Serve: page.Reading(h.indexPage)},
		{Path: pathLogin, Serve: h.loginPage, Again: h.loginAgain},
		{Path: pathLogout, Serve: h.logout},
		{Path: pathDocs, Word: "nav.api", About: "nav.about_api", Serve: docs},
		{Path: pathDocs + "/{id}", Serve: docs},
	}
}

// editorPages are those by which people edit the registry.
func (h *Handler) editorPages() (all []page.Page) {
	if h.config.Registry == nil {
		return nil
	}
	e := editor.New(editor.Config{
		Service: h.config.Registry.Service, Show: h.Show, Public: h.config.Public, Drafts: h.config.Registry.Drafts,
		ChecksTargets: h.config.Registry.ChecksTargets, Failed: h.logFailure, Revoked: h.config.Sessions.EndToken,
	})
	for _, p := range e.Pages() {
		all = append(all, page.Page{Path: p.Path, Word: p.Word, About: p.About, Use: p.Use, MaxFile: p.MaxFile, Serve: p.Serve, Again: p.Again})
	}
	return all
}

// indexPage lists what there is: pages for the actor, in the language of the page, and operations of the API, in English as their document has them.
func (h *Handler) indexPage(r *page.Request) (message.Reply, error) {
	var view struct {
		Pages      []pages.Item
		Operations [][2]string
	}
	panel := r.Panel
	for i := range h.pages {
		if p := &h.pages[i]; p.About != "" && mayVisit(r.Actor, p) {
			view.Pages = append(view.Pages, pages.Item{Word: panel.In.Text(p.About), Path: p.Path})
		}
	}
	view.Operations = h.api.List()
	panel.Title, panel.Content = panel.In.Text("nav.title"), h.contents.Make(panel.In.Language(), "index.html", view)
	return h.Show(&panel), nil
}
