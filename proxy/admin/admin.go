// Package admin serves the admin interface over HTTP: it authenticates administrators and editors by tokens,
// client certificates and sessions, and dispatches their requests to the API (package api) and to the pages
// (packages status and editor). Requests of net/http enter; JSON documents, HTML pages, problem documents and
// log records leave. Bearer tokens follow RFC 6750, problem documents RFC 9457.
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

// Config configures a Handler. Clients, Proxies, OwnHosts, Token, RequireCertificate, PublicURL, Registry and Pages are
// optional; all other fields must be set.
type Config struct {
	Clients  []netip.Prefix // clients that may connect by TCP; a Unix socket is protected by file permissions
	Proxies  []netip.Prefix // reverse proxies that are trusted to name their client
	OwnHosts route.OwnHosts
	// Token is the bearer token of administrators; nil requires none, which is only safe on loopback.
	Token []byte
	// RequireCertificate requires a verified client certificate, in addition to Token where that is set.
	RequireCertificate bool
	Log                *slog.Logger
	Metrics            http.Handler
	Caches             api.Caches
	Responses          api.Responses
	// HasResponses reports whether HTTP responses are stored for the URIs of a scheme, in lower case. The
	// URIs of other schemes are names, for which resolver answers are cached.
	HasResponses func(scheme string) bool
	// PublicURL is the URL at which readers reach the service, without a trailing slash; "" if unknown.
	PublicURL string
	Registry  *Registry     // nil without a registry
	Pages     *pages.Design // nil: the default design of urnd
	// Panicked is called with the value and the stack of a recovered panic.
	Panicked func(value any, stack []byte)
	// Sessions outlive a reload: all generations of the configuration share them.
	Sessions *session.Sessions
	// Health returns the reasons why the daemon is not ready, and those why it is degraded.
	Health   func() (unready, degraded []string)
	Settings Settings
	State    func(in pages.Writer) status.State
}

// Registry serves the registry of names that the site owns. All fields but ChecksTargets must be set.
type Registry struct {
	*service.Service
	// Drafts are the uploaded files of bulk edits. All generations of the configuration share them.
	Drafts *editor.Drafts
	// ChecksTargets is true if targets are checked periodically.
	ChecksTargets bool
}

// Settings give the configuration in force, without secrets. All fields must be set, and safe for concurrent
// use.
type Settings struct {
	Values   func() any // by section
	Origins  func() any // each setting with its origin, for JSON
	Sections func() []status.Section
}

// Handler serves the admin interface. It is safe for concurrent use.
type Handler struct {
	page.Writer

	config   Config
	contents pages.Contents
	api      *api.API
	pages    []page.Page
}

// New returns a Handler.
func New(config Config) *Handler {
	design := cmp.Or(config.Pages, pages.New(pages.Site{})).Standalone()
	h := &Handler{config: config, contents: pages.NewContents(files), Writer: page.Writer{Design: design}}
	programs := api.Config{
		Log: config.Log, Metrics: config.Metrics, Caches: config.Caches, Responses: config.Responses,
		HasResponses: config.HasResponses, Health: config.Health, Settings: config.Settings.Values,
		Origins: config.Settings.Origins, Failed: h.logFailure, Revoked: config.Sessions.EndToken, Writer: h.Writer,
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

// ownPages returns the index, the pages of sessions and the API documentation.
func (h *Handler) ownPages() []page.Page {
	docs := page.ReadOnly(h.docsPage())
	return []page.Page{
		{Path: "/", Serve: page.ReadOnly(h.indexPage)},
		{Path: pathLogin, Serve: h.loginPage, Redisplay: h.redisplayLogin},
		{Path: pathLogout, Serve: h.logout},
		{Path: pathDocs, Label: "nav.api", Description: "nav.about_api", Serve: docs},
		{Path: pathDocs + "/{id}", Serve: docs},
	}
}

// editorPages returns the pages of the registry editor.
func (h *Handler) editorPages() (all []page.Page) {
	if h.config.Registry == nil {
		return nil
	}
	e := editor.New(editor.Config{
		Service: h.config.Registry.Service, Show: h.Show, PublicURL: h.config.PublicURL,
		Drafts: h.config.Registry.Drafts, ChecksTargets: h.config.Registry.ChecksTargets, Failed: h.logFailure,
		Revoked: h.config.Sessions.EndToken,
	})
	for _, p := range e.Pages() {
		all = append(all, page.Page{
			Path: p.Path, Label: p.Label, Description: p.Description, Use: p.Use,
			MaxFile: p.MaxFile, Serve: p.Serve, Redisplay: p.Redisplay,
		})
	}
	return all
}

// indexPage lists the pages that the actor may visit, in the language of the page, and the operations of the
// API, in the English of the OpenAPI document.
func (h *Handler) indexPage(r *page.Request) (message.Reply, error) {
	var view struct {
		Pages      []pages.Item
		Operations [][2]string
	}
	panel := r.Panel
	for i := range h.pages {
		if p := &h.pages[i]; p.Description != "" && mayVisit(r.Actor, p) {
			view.Pages = append(view.Pages, pages.Item{Label: panel.Writer.Text(p.Description), Path: p.Path})
		}
	}
	view.Operations = h.api.List()
	panel.Title, panel.Content = panel.Writer.Text("nav.title"),
		h.contents.Make(panel.Writer.Language(), "index.html", view)
	return h.Show(&panel), nil
}
