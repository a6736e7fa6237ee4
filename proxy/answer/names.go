package answer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Lists are the functions that list names of the registry. They must be safe for concurrent use.
type Lists struct {
	// Search returns a page of names; nil disables these pages.
	Search func(context.Context, resolver.NameSearch) (resolver.NamePage, error)
	// Count returns the number of names in a namespace, such as "urn:nbn", and false if it is unknown; nil if
	// the number is not public.
	Count func(ctx context.Context, group string) (int64, bool)
	// Index returns the index of a sitemap. File returns the function that writes one of its files, and the
	// one that releases it. nil disables the sitemap.
	Index func(context.Context) ([]byte, error)
	File  func(ctx context.Context, file string, client netip.Addr) (write func(io.Writer) error, release func(),
		err error)
}

// Freshness lifetimes of lists: names are registered frequently, and crawlers come once a day.
const (
	namesLifetime   = "max-age=60"
	sitemapLifetime = "max-age=3600"
)

// sitemapType is the media type of sitemaps.
const sitemapType = "application/xml; charset=utf-8"

// Names returns the reply with a page of names. forAll is true if all readers get the same page. An invalid
// cursor is reported on the page.
func (l *Lists) Names(
	ctx context.Context, w pages.Writer, requested *route.Names, s resolver.NameSearch, forAll bool,
) (message.Reply, error) {
	shown := pages.Names{Search: s}
	reply := message.Reply{Status: http.StatusOK, CacheControl: namesLifetime}
	if !forAll {
		reply.CacheControl = "private, " + namesLifetime
	}
	failure := requested.Err
	if failure == nil {
		found, err := l.Search(ctx, s)
		switch {
		case errors.Is(err, resolver.ErrCursor):
			failure = resolver.ErrCursor
		case err != nil:
			return message.Reply{}, err
		}
		shown.Next, shown.TimedOut = found.Next, found.TimedOut
		for i := range found.Names {
			shown.List = append(shown.List, listedName(&found.Names[i]))
		}
	}
	if failure != nil {
		shown.ErrorCode, shown.Search.After, reply.Status = problem.New(failure).Code, "", http.StatusBadRequest
	}
	if failure != nil || shown.TimedOut {
		reply.CacheControl = message.NoStore
	}
	return reply.WithPage(message.Page(w.Names(&shown))), nil
}

// listedName returns the shown form of a name.
func listedName(l *resolver.NameSummary) pages.ListedName {
	shown := pages.ListedName{
		Name: l.Name, Path: NamePageURL("", l.Name), Title: calledOf(l), Alias: l.Alias, Status: l.Status,
		IsSandbox: l.Sandbox,
	}
	for _, target := range l.Targets {
		if u, err := uri.Parse(target); err == nil && shown.Host == "" {
			shown.Host, _ = u.Host()
			shown.Host = strings.ToLower(shown.Host)
		}
	}
	return shown
}

// calledOf returns the title of a name, "" if unknown.
func calledOf(l *resolver.NameSummary) string { return cmp.Or(represent.TitleOf(l.Metadata), l.Title) }

// NamePageURL returns the URL of the page about a canonical name, at a base.
func NamePageURL(base, name string) string {
	return string(route.AppendServiceURL(nil, base, describes, formatHTML, name))
}

// Sitemap returns the reply with the index of a sitemap, or one of its files.
func (l *Lists) Sitemap(ctx context.Context, requested *route.Sitemap, client netip.Addr) (message.Reply, error) {
	reply := message.Reply{Status: http.StatusOK, ContentType: sitemapType, CacheControl: sitemapLifetime}
	if requested.File == "" {
		index, err := l.Index(ctx)
		if err != nil {
			return message.Reply{}, err
		}
		reply.Body = index
		return reply, nil
	}
	write, release, err := l.File(ctx, requested.File, client)
	if err != nil {
		return message.Reply{}, err
	}
	reply.Stream, reply.Close = func(w message.Stream) error { return write(w) }, release
	return reply, nil
}

// Robots returns robots.txt (RFC 9309) of a server with these lists, and the URL of its sitemap, "" for none.
// Crawlers may read the start page, and the pages about namespaces and the API, but not resolve names: each
// would cost a resolution. With a sitemap, they may read the pages of its names.
func Robots(lists Lists, sitemap string) *Static {
	text := "User-agent: *\nAllow: /$\n"
	text += "Allow: " + route.PathNamespaces + "$\nAllow: " + route.PathNamespaces + "/\n"
	text += "Allow: " + route.PathDocs + "$\nAllow: " + route.PathDocs + "/\n"
	if lists.Count != nil { // all readers may list names
		text += "Allow: " + route.PathNames + "$\n"
	}
	if sitemap != "" {
		text += "Allow: " + route.PathSitemap +
			"$\nAllow: /sitemap-\nAllow: /uri-res/N2C.html?\nAllow: /uri-res/L2C.html?\n"
	}
	text += "Disallow: /\n"
	if sitemap != "" {
		text += "\nSitemap: " + sitemap + "\n"
	}
	return NewStatic("text/plain; charset=utf-8", []byte(text))
}
