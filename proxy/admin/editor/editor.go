// Package editor renders the pages on which people edit the registry: names, prefixes, targets, change sets,
// imports, jobs, statistics and tokens. Requests for pages with their forms enter; HTML pages and redirects
// leave, and changes go to the service of the registry, which authorizes them. Redirects after forms follow
// RFC 9110 section 15.4.4.
package editor

import (
	"cmp"
	"embed"
	"net/http"
	"slices"

	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

//go:embed *.html
var files embed.FS

//go:embed times.js
var timesScript []byte

// pathTimesScript is the path of the script that shows times in the time zone of the reader.
const pathTimesScript = "/registry/times.js"

// Config configures an Editor. All fields but Public and ChecksTargets must be set, and safe for concurrent
// use.
type Config struct {
	Service *service.Service
	// Show returns the reply with a page.
	Show func(p *pages.Panel) message.Reply
	// Failed reports errors of requests that still get a page.
	Failed func(r *http.Request, actor registry.Actor, err error)
	// Revoked ends the sessions of a token, by the ID of the token.
	Revoked func(id string)
	// PublicURL is the URL at which readers reach the service, without a trailing slash; "" if unknown.
	PublicURL string
	// Drafts are shared by all generations of the configuration.
	Drafts *Drafts
	// ChecksTargets is true if targets are checked periodically.
	ChecksTargets bool
}

// Editor serves the pages of editors. It is safe for concurrent use.
type Editor struct {
	Config
	contents pages.Contents
}

// New returns an Editor.
func New(c Config) *Editor {
	return &Editor{Config: c, contents: pages.NewContents(files)}
}

// Page describes a page of the editor.
type Page struct {
	Path        string             // "{id}" is one segment
	Label       string             // the message with its name in the navigation; "" for none
	Description string             // the message that describes it in the index; "" for none
	Use         service.Permission // the use of the registry that the visitor must be authorized for
	// MaxFile is the maximum size in bytes of an uploaded file; 0 for forms without a file.
	MaxFile int64
	Serve   func(p *Request) (message.Reply, error)
	// Redisplay shows a posted form as it was submitted, without effect; nil if there is none, or nothing was
	// typed in it.
	Redisplay func(p *Request) (message.Reply, error)
	ofJobs    bool // omitted if jobs are disabled
}

// Pages returns all pages.
func (e *Editor) Pages() []Page {
	all := []Page{
		{
			Path: PathNames, Label: "editor.names", Description: "nav.about_names", Use: service.ToVisit,
			Serve: e.serveNames,
		},
		{Path: pathName, Use: service.ToVisit, Serve: e.serveName},
		{Path: pathMint, Use: service.ToMint, Serve: e.serveMint, Redisplay: e.redisplayMint},
		{Path: pathSelection, ofJobs: true, Use: service.ToChange, Serve: e.serveSelect},
		{Path: pathSelection + "/{id}", ofJobs: true, Use: service.ToChange, Serve: e.serveSelection},
		{Path: pathEdit, Use: service.ToChange, Serve: e.serveEdit, Redisplay: e.redisplayEdit},
		{Path: pathHistory, Use: service.ToVisit, Serve: e.serveHistory},
		{Path: pathWithdraw, Use: service.ToWithdraw, Serve: e.serveWithdraw, Redisplay: e.redisplayWithdraw},
		{
			Path: pathChanges, Label: "editor.changes", Description: "nav.about_changes", Use: service.ToVisit,
			Serve: e.serveChanges,
		},
		{Path: pathChanges + "/{id}", Use: service.ToVisit, Serve: e.serveChangeSet},
		{Path: pathTimesScript, Use: service.ToVisit, Serve: e.serveTimesScript},
		{
			Path: PathPrefixes, Label: "editor.prefixes", Description: "nav.about_prefixes", Use: service.ToRead,
			Serve: e.servePrefixes,
		},
		{
			Path: PathImport, Label: "editor.import", Description: "nav.about_import", ofJobs: true,
			Use: service.ToImport, MaxFile: maxImport, Serve: e.serveImport, Redisplay: e.redisplayImport,
		},
		{Path: pathDraft, ofJobs: true, Use: service.ToImport, Serve: e.serveDraft, Redisplay: e.redisplayDraft},
		{
			Path: PathJobs, Label: "editor.jobs", Description: "nav.about_jobs", ofJobs: true, Use: service.ToRead,
			Serve: e.serveJobs,
		},
		{Path: pathJobScript, ofJobs: true, Use: service.ToRead, Serve: e.serveJobScript},
		{Path: pathClashes, ofJobs: true, Use: service.ToRead, Serve: e.serveClashes},
		{Path: pathJob, ofJobs: true, Use: service.ToRead, Serve: e.serveJob},
		{
			Path: PathTargets, Label: "editor.dead_targets", Description: "nav.about_dead_targets", Use: service.ToRead,
			Serve: e.serveTargets,
		},
		{Path: PathMove, ofJobs: true, Use: service.ToImport, Serve: e.serveMove, Redisplay: e.redisplayMove},
		{
			Path: PathStatistics, Label: "editor.statistics", Description: "nav.about_statistics", Use: service.ToRead,
			Serve: e.serveStatistics,
		},
		{
			Path: PathTokens, Label: "editor.tokens", Description: "nav.about_tokens", Use: service.ToManageTokens,
			Serve: e.serveTokens, Redisplay: e.redisplayTokens,
		},
		{Path: pathRevoke, Use: service.ToManageTokens, Serve: e.serveRevoke, Redisplay: e.confirmRevoke},
	}
	return slices.DeleteFunc(all, func(one Page) bool { return one.ofJobs && !e.Service.HasJobs() })
}

// show returns a page with a title and the content of a template.
func (e *Editor) show(p *Request, title, file string, data any) message.Reply {
	page := p.Panel
	page.Script = cmp.Or(page.Script, pathTimesScript)
	page.Title, page.Content = title, e.contents.Make(p.Panel.Writer.Language(), file, data)
	return e.Show(&page)
}

// serveTimesScript serves the script that shows times in the time zone of the reader.
func (e *Editor) serveTimesScript(p *Request) (message.Reply, error) {
	if p.Method == http.MethodPost {
		return message.Reply{}, problem.NotAllowed(p.Method, "GET, HEAD")
	}
	return message.Reply{
		Status: http.StatusOK, ContentType: "text/javascript; charset=utf-8", CacheControl: "no-cache",
		Body: timesScript,
	}, nil
}

// Request is a request for a page with forms.
type Request = page.Request
