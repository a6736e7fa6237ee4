// Package editor makes the pages by which people edit the registry: what they show and change is done by the service of the registry.
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

// pathTimesScript is where the script is that writes times in the zone of the reader.
const pathTimesScript = "/registry/times.js"

// Config configures an Editor. All fields but Public must be set, and safe for concurrent use.
type Config struct {
	Service *service.Service
	// Show returns the reply with a page.
	Show func(p *pages.Panel) message.Reply
	// Failed is told of errors where a page is shown all the same.
	Failed func(r *http.Request, actor registry.Actor, err error)
	// Revoked ends what was begun with a token, by its ID.
	Revoked func(id string)
	// Public is the URL by which readers reach the service, without a slash at its end; "" where it is not known.
	Public string
	// Drafts are those of all configurations.
	Drafts *Drafts
	// ChecksTargets is whether it is looked now and then whether targets answer.
	ChecksTargets bool
}

// Editor makes the pages of editors. It is safe for concurrent use.
type Editor struct {
	Config
	contents pages.Contents
}

// New returns an Editor.
func New(c Config) *Editor {
	return &Editor{Config: c, contents: pages.NewContents(files)}
}

// Page is one of the pages of editors.
type Page struct {
	Path  string      // "{id}" is one segment
	Word  string      // the message of its name among the pages to which all lead; "" for none
	About string      // the message about it in the list of all that there is; "" for none
	Use   service.Use // what whoever sees it must be allowed to do
	// MaxFile is how many octets a file of its form may have; 0 for forms without one.
	MaxFile int64
	Serve   func(p *Request) (message.Reply, error)
	// Again shows the form as it was sent, and does nothing; nil: there is none, or it has nothing that was typed.
	Again  func(p *Request) (message.Reply, error)
	ofJobs bool // it is not there without jobs
}

// Pages returns all pages.
func (e *Editor) Pages() []Page {
	all := []Page{
		{Path: PathNames, Word: "editor.names", About: "nav.about_names", Use: service.ToVisit, Serve: e.serveNames},
		{Path: pathName, Use: service.ToVisit, Serve: e.serveName},
		{Path: pathMint, Use: service.ToMint, Serve: e.serveMint, Again: e.mintAgain},
		{Path: pathSelection, ofJobs: true, Use: service.ToChange, Serve: e.serveSelect},
		{Path: pathSelection + "/{id}", ofJobs: true, Use: service.ToChange, Serve: e.serveSelection},
		{Path: pathEdit, Use: service.ToChange, Serve: e.serveEdit, Again: e.editAgain},
		{Path: pathHistory, Use: service.ToVisit, Serve: e.serveHistory},
		{Path: pathWithdraw, Use: service.ToWithdraw, Serve: e.serveWithdraw, Again: e.withdrawAgain},
		{Path: pathChanges, Word: "editor.changes", About: "nav.about_changes", Use: service.ToVisit, Serve: e.serveChanges},
		{Path: pathChanges + "/{id}", Use: service.ToVisit, Serve: e.serveChangeSet},
		{Path: pathTimesScript, Use: service.ToVisit, Serve: e.serveTimesScript},
		{Path: PathPrefixes, Word: "editor.prefixes", About: "nav.about_prefixes", Use: service.ToRead, Serve: e.servePrefixes},
		{Path: PathImport, Word: "editor.import", About: "nav.about_import", ofJobs: true, Use: service.ToImport, MaxFile: maxImport, Serve: e.serveImport, Again: e.importAgain},
		{Path: pathDraft, ofJobs: true, Use: service.ToImport, Serve: e.serveDraft, Again: e.draftAgain},
		{Path: PathJobs, Word: "editor.jobs", About: "nav.about_jobs", ofJobs: true, Use: service.ToRead, Serve: e.serveJobs},
		{Path: pathJobScript, ofJobs: true, Use: service.ToRead, Serve: e.serveJobScript},
		{Path: pathClashes, ofJobs: true, Use: service.ToRead, Serve: e.serveClashes},
		{Path: pathJob, ofJobs: true, Use: service.ToRead, Serve: e.serveJob},
		{Path: PathTargets, Word: "editor.dead_targets", About: "nav.about_dead_targets", Use: service.ToRead, Serve: e.serveTargets},
		{Path: PathMove, ofJobs: true, Use: service.ToImport, Serve: e.serveMove, Again: e.moveAgain},
		{Path: PathStatistics, Word: "editor.statistics", About: "nav.about_statistics", Use: service.ToRead, Serve: e.serveStatistics},
		{Path: PathTokens, Word: "editor.tokens", About: "nav.about_tokens", Use: service.ToManageTokens, Serve: e.serveTokens, Again: e.tokensAgain},
		{Path: pathRevoke, Use: service.ToManageTokens, Serve: e.serveRevoke, Again: e.askRevoke},
	}
	return slices.DeleteFunc(all, func(one Page) bool { return one.ofJobs && !e.Service.HasJobs() })
}

// show returns a page with a title, whose content a template makes of data.
func (e *Editor) show(p *Request, title, file string, data any) message.Reply {
	page := p.Panel
	page.Script = cmp.Or(page.Script, pathTimesScript)
	page.Title, page.Content = title, e.contents.Make(p.Panel.In.Language(), file, data)
	return e.Show(&page)
}

// serveTimesScript sends the script that writes times in the zone of the reader.
func (e *Editor) serveTimesScript(p *Request) (message.Reply, error) {
	if p.Method == http.MethodPost {
		return message.Reply{}, problem.NotAllowed(p.Method, "GET, HEAD")
	}
	return message.Reply{Status: http.StatusOK, ContentType: "text/javascript; charset=utf-8", CacheControl: "no-cache", Body: timesScript}, nil
}

// Request is a request for a page with forms.
type Request = page.Request
