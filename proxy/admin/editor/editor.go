package editor

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

//go:embed *.html
var files embed.FS

// Config configures an Editor. All fields but Public and HasJobs must be set, and safe for concurrent use.
type Config struct {
	// API answers a request to the API of the registry, as one of an actor. Of the request only the method, the URL, the fields and the
	// body are read.
	API func(actor registry.Actor, r *http.Request) (message.Reply, error)
	// Show returns the reply with a page.
	Show func(p *pages.Panel) message.Reply
	// Public is the URL by which readers reach the service, without a slash at its end; "" where it is not known.
	Public string
	// Now returns the time.
	Now func() time.Time
	// Drafts are those of all configurations.
	Drafts *Drafts
	// HasJobs is whether many names can be changed in the background.
	HasJobs bool
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
	Word  string      // among the pages to which all lead; "" for none
	About string      // in the list of all that there is; "" for none
	Use   service.Use // what whoever sees it must be allowed to do
	// MaxFile is how many octets a file of its form may have; 0 for forms without one.
	MaxFile int64
	Serve   func(p *Request) (message.Reply, error)
	ofJobs  bool // it is not there without jobs
}

// Pages returns all pages.
func (e *Editor) Pages() []Page {
	all := []Page{
		{Path: PathNames, Word: "Names", About: "the names of the registry, for people", Use: service.ToVisit, Serve: e.serveNames},
		{Path: pathName, Use: service.ToVisit, Serve: e.serveName},
		{Path: pathEdit, Use: service.ToChange, Serve: e.serveEdit},
		{Path: pathHistory, Use: service.ToVisit, Serve: e.serveHistory},
		{Path: pathWithdraw, Use: service.ToWithdraw, Serve: e.serveWithdraw},
		{Path: pathChanges, Word: "Changes", About: "what was changed together, for people", Use: service.ToVisit, Serve: e.serveChanges},
		{Path: pathChanges + "/{id}", Use: service.ToVisit, Serve: e.serveChangeSet},
		{Path: PathPrefixes, Word: "Prefixes", About: "the prefixes of the registry, for people", Use: service.ToRead, Serve: e.servePrefixes},
		{Path: PathImport, Word: "Import", About: "the import of many names, by a form", ofJobs: true, Use: service.ToImport, MaxFile: maxImport, Serve: e.serveImport},
		{Path: pathDraft, ofJobs: true, Use: service.ToImport, Serve: e.serveDraft},
		{Path: PathJobs, Word: "Jobs", About: "imports of many names, and how far they are", ofJobs: true, Use: service.ToRead, Serve: e.serveJobs},
		{Path: pathJobScript, ofJobs: true, Use: service.ToRead, Serve: e.serveJobScript},
		{Path: pathJob, ofJobs: true, Use: service.ToRead, Serve: e.serveJob},
		{Path: PathTargets, Word: "Dead targets", About: "targets that do not answer, and what to do about them", Use: service.ToRead, Serve: e.serveTargets},
		{Path: PathMove, ofJobs: true, Use: service.ToImport, Serve: e.serveMove},
		{Path: PathStatistics, Word: "Statistics", About: "how many names there are, as charts", Use: service.ToRead, Serve: e.serveStatistics},
		{Path: PathTokens, Word: "Tokens", About: "the tokens of people and programs", Use: service.ToManageTokens, Serve: e.serveTokens},
		{Path: pathRevoke, Use: service.ToManageTokens, Serve: e.serveRevoke},
	}
	return slices.DeleteFunc(all, func(one Page) bool { return one.ofJobs && !e.HasJobs })
}

// show returns a page with a title, whose content a template makes of data.
func (e *Editor) show(p *Request, title, file string, data any) message.Reply {
	page := p.Panel
	page.Title, page.Content = title, e.contents.Make(file, data)
	return e.Show(&page)
}

// get asks the API for a document.
func (e *Editor) get(p *Request, path string, q url.Values, into any) error {
	reply, err := e.ask(p, http.MethodGet, path, q, nil, nil)
	if err != nil {
		return err
	}
	return read(reply, into)
}

// ask asks the API, as who has asked for a page. body is nil, an io.Reader, or what is sent as JSON.
func (e *Editor) ask(p *Request, method, path string, q url.Values, header http.Header, body any) (message.Reply, error) {
	content, ok := body.(io.Reader)
	if !ok {
		text, err := json.Marshal(body)
		if err != nil {
			return message.Reply{}, fmt.Errorf("asking the API: %w", err)
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(p.Context(), method, (&url.URL{Path: path, RawQuery: q.Encode()}).String(), content)
	if err != nil {
		return message.Reply{}, fmt.Errorf("asking the API: %w", err)
	}
	for name, lines := range header {
		r.Header[name] = lines
	}
	if method != http.MethodGet && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return e.API(p.Actor, r)
}

// read reads the document of a reply.
func read(reply message.Reply, into any) error {
	if reply.Close != nil {
		defer reply.Close()
	}
	if err := json.Unmarshal(reply.Body, into); err != nil {
		return fmt.Errorf("reading what the API has answered: %w", err)
	}
	return nil
}
