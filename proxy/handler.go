// Package proxy serves HTTP: a Handler classifies each request, admits it and serves it, and a Server speaks
// HTTP/1.1 and HTTP/2 with the clients. Requests enter as httpmessage.Incoming; responses leave through an
// httpmessage.ResponseWriter: redirects for names, urnd's own pages and documents, and responses of origins,
// forwarded or from the HTTP cache. The outcome of each request leaves as an Event. The semantics are those
// of RFC 9110 and RFC 9111, names those of RFC 8141. Routing (route), access control (gate), replies about
// names (answer) and forwarding (forward) are subpackages.
package proxy

import (
	"sync"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/present"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// Handler answers the requests of clients. It is safe for concurrent use.
type Handler struct {
	config   Config
	server   route.Server
	gate     *gate.Gate
	answers  *answer.Responder
	forward  *forward.Proxy
	failures *forward.Failures
	sites    []Site

	cors answer.CORS
	// describes is whether some names may be answered with a description, by Accept.
	describes bool
	statics   map[string]*answer.Static
	// hostRobots is robots.txt of the web hosts whose paths are names.
	hostRobots *answer.Static
	docs       answer.Docs
	// hostStatics are the documents of the hosts of identifiers in web addresses, by host and path.
	hostStatics map[string]map[string]*answer.Static
	// exhausted is the pre-rendered reply for when no memory is left for a document.
	exhausted  message.Reply
	exchanges  sync.Pool
	rejections *rejections
}

// Avoided returns the failing servers that are avoided while a location has others.
func (h *Handler) Avoided() []resolver.Avoided { return h.failures.Avoided() }

// New returns a Handler.
func New(config Config) *Handler {
	if config.Pages == nil {
		config.Pages = pages.New(pages.Site{})
	}
	failures := config.Failures
	if failures == nil {
		failures = forward.NewFailures(config.Now)
	}
	h := &Handler{
		config: config, failures: failures, exhausted: problem.Reply(config.Pages, nil, problem.ErrDocuments),
		statics: answer.StaticDocuments(), hostRobots: answer.HostRobots(), docs: answer.NewDocs(config.Pages),
		describes: len(config.DescribedPrefixes) > 0, rejections: newRejections(),
		cors: answer.CORS{Origins: config.CORS, AllMayResolve: config.Access.AllMayResolve()},
		gate: gate.New(gate.Config{
			Access: config.Access, Sites: accessOf(config.Sites), OwnHosts: config.OwnHosts, Policy: config.Policy,
			NetworkFactor: config.NetworkFactor, Now: config.Now, Log: config.Log,
		}),
		answers: answer.New(answer.Config{
			Resolver: config.Resolver, Names: config.Names, Now: config.Now, RuleTTL: config.RuleTTL,
			Failing: either(failures.Failing, config.Unhealthy), MaxTarget: config.MaxTarget, Panicked: config.Panicked,
			ClientQuotaPercent: config.ClientQuotaPercent, NetworkFactor: config.NetworkFactor,
			BatchTimeout: config.BatchTimeout, History: config.History, LookupNames: config.LookupNames,
			Handles: config.Handles, Support: config.Support, Pages: config.Pages,
			DescribedPrefixes: config.DescribedPrefixes,
		}),
	}
	if pac := config.PAC.Static(); pac != nil {
		h.statics[answer.PathPAC], h.statics[answer.PathWPAD] = pac, pac
	}
	sitemap := ""
	if config.Lists.Index != nil {
		sitemap = config.PublicURL + route.PathSitemap
	}
	h.statics[answer.PathRobots] = answer.Robots(config.Lists, sitemap)
	if config.Names.OwnsARKs() {
		h.statics[answer.PathARK] = answer.ARKService(config.Pages.Path("/"))
	}
	if logo := config.Pages.Logo(); logo != nil {
		h.statics[logo.Path()] = answer.Logo(logo)
	}
	outgoing := config.Forward
	outgoing.Fetch = present.New(present.Config{
		Fetch: failures.Wrap(config.Fetch), TTL: config.ListingTTL, MaxBytes: config.ListingSize,
		Memory: config.DocumentMemory, MemoryWait: config.DocumentWait, Schemes: config.Schemes, Pages: config.Pages,
	})
	outgoing.Via, outgoing.Now, outgoing.Accept = config.Via, config.Now, answer.ListingAccept
	outgoing.Language = func(accepted, languages string) string {
		return answer.ListingLanguage(config.Pages, accepted, languages)
	}
	outgoing.Base, outgoing.Compress = config.Pages.Path(""), config.Compress
	h.forward = forward.New(outgoing)
	h.server = route.Server{
		OwnHosts: config.OwnHosts, Names: config.Names, Sites: h.addSites(failures),
		Hosts: route.NewHosts(config.Hosts), Handles: config.Handles, Documents: make(map[string]bool),
		Spelling: config.Spelling, RedirectTLS: config.RedirectTLS, TLSPort: config.TLSPort,
		PublicURL: config.PublicURL, HasNameList: config.Lists.Search != nil, HasSitemap: config.Lists.Index != nil,
	}
	for path := range h.statics {
		h.server.Documents[path] = true
	}
	delete(h.server.Documents, pages.PathCopy) // it may be a name at web hosts whose paths are names
	h.server.Documents[answer.PathCatalog] = true
	h.server.Documents[answer.PathSecurity] = config.SecurityContact != ""
	h.server.OwnDocuments = map[string]bool{pages.PathOpenSearch: true, pages.PathCopy: true}
	h.addHostDocuments()
	return h
}

// addHostDocuments adds the documents of the hosts of identifiers in web addresses.
func (h *Handler) addHostDocuments() {
	h.hostStatics = make(map[string]map[string]*answer.Static)
	h.server.HostDocuments = make(map[string]map[string]bool)
	for i := range h.config.Identifiers {
		s := &h.config.Identifiers[i]
		if h.hostStatics[s.Host] != nil { // the first of several roots wins
			continue
		}
		h.hostStatics[s.Host] = answer.IdentifierDocuments(s)
		h.server.HostDocuments[s.Host] = make(map[string]bool)
		for path := range h.hostStatics[s.Host] {
			h.server.HostDocuments[s.Host][path] = true
		}
	}
}

// either returns the disjunction of two predicates; b may be nil.
func either(a, b func(string) bool) func(string) bool {
	if b == nil {
		return a
	}
	return func(location string) bool { return a(location) || b(location) }
}
