package ftp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// listed is the parsed reply to a listing command.
type listed struct {
	entries    []entry
	unknown    int    // number of lines that could not be parsed
	incomplete string // why entries are missing; "" if complete
}

// directory returns the listing of the current directory of the connection.
func (f *fetch) directory(ctx context.Context) (*scheme.Resource, error) {
	ctx, cancel := f.config.within(ctx)
	defer cancel()
	found, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	return f.listing(found, f.target.directory()), nil
}

// read lists by MLSD, else by LIST, and by NLST (names only) if no line of LIST can be parsed.
func (f *fetch) read(ctx context.Context) (listed, error) {
	if f.control.features.mlst {
		found, err := f.lines(ctx, "MLSD", "", parseMLSD)
		if !errors.Is(err, scheme.ErrInvalidResponse) || f.control.broken { // some servers announce MLSD and reject it
			return found, err
		}
	}
	if err := f.control.setType(ctx, 'A'); err != nil {
		return listed{}, err
	}
	now := f.config.Now()
	found, err := f.lines(ctx, "LIST", "", func(line string) (entry, bool, bool) { return parseList(line, now) })
	if err != nil || f.control.broken || len(found.entries) > 0 || found.unknown == 0 {
		return found, err
	}
	return f.lines(ctx, "NLST", "", parseName)
}

// names returns the listing of the names that match a pattern.
func (f *fetch) names(ctx context.Context, pattern string) (*scheme.Resource, error) {
	ctx, cancel := f.config.within(ctx)
	defer cancel()
	if err := f.control.setType(ctx, 'A'); err != nil {
		return nil, err
	}
	found, err := f.lines(ctx, "NLST ", pattern, parseName)
	if err != nil {
		return nil, err
	}
	if len(found.entries) == 0 {
		return nil, scheme.PolicyDenial(http.StatusNotFound, "ftp_no_match", "no matching name")
	}
	location := strings.TrimSuffix(f.target.directory(), "/")
	return f.listing(found, location[:strings.LastIndexByte(location, '/')+1]), nil
}

// parseName parses a line of the reply to NLST, which has only the name.
func parseName(line string) (entry, bool, bool) {
	return entry{name: strings.TrimPrefix(line, "./"), kind: scheme.ItemOther, size: -1}, false, true
}

// lines sends a listing command and parses the lines of its transfer.
func (f *fetch) lines(
	ctx context.Context, verb, argument string, parse func(string) (entry, bool, bool),
) (listed, error) {
	data, err := f.transfer(ctx, verb, argument, 0)
	var refused *scheme.StatusError
	if errors.As(err, &refused) && isEmpty(refused.Reply) {
		return listed{}, nil // some servers reject the listing of an empty directory
	}
	if err != nil {
		return listed{}, err
	}
	defer data.Close()
	stop := context.AfterFunc(ctx, func() { _ = data.Close() })
	defer stop()
	limits := f.config.Limits
	limits.Entries = limits.MaxEntries(f.request.URI.String())
	found, err := readLines(data, limits, parse)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		f.control.broken = true
		return listed{}, broke("a listing", err)
	}
	if found.incomplete != "" {
		f.control.broken = true // the transfer is aborted
		return found, nil
	}
	_ = data.Close() // with TLS the server waits for it
	if data.done {
		return found, nil
	}
	r, err := f.control.reply(ctx, "the listing")
	switch {
	case err != nil:
		return listed{}, err
	case !r.ok():
		f.control.broken = true
		return listed{}, fmt.Errorf("%w: %w: server ended the listing with %.200q", resolver.ErrUnreachable,
			io.ErrUnexpectedEOF, r.text())
	case !isUnread(r):
		return found, nil
	case len(found.entries) == 0:
		return listed{}, scheme.UpstreamError(http.StatusForbidden, scheme.DecodeText(r.text()))
	}
	found.incomplete = scheme.DecodeText(r.text())
	return found, nil
}

// readLines parses the lines of a listing within the limits.
func readLines(data io.Reader, limits scheme.Limits, parse func(string) (entry, bool, bool)) (listed, error) {
	var found listed
	lines := scheme.LineReader{
		In: bufio.NewReaderSize(data, limits.Line), Line: limits.Line, Bytes: limits.Bytes,
		Endless: true,
	}
	for found.incomplete == "" {
		line, err := lines.Next()
		switch {
		case errors.Is(err, scheme.ErrLongLine):
			found.incomplete = fmt.Sprintf("a line exceeds %d bytes", limits.Line)
		case errors.Is(err, scheme.ErrTooManyBytes):
			found.incomplete = fmt.Sprintf("the listing exceeds %d bytes", limits.Bytes)
		case err == nil:
			e, skip, ok := parse(line)
			found.add(e, skip, ok, limits.Entries)
		case errors.Is(err, io.EOF):
			return found, nil
		default:
			return found, err
		}
	}
	return found, nil
}

// add adds a parsed line. skip, "." and ".." add nothing.
func (l *listed) add(e entry, skip, ok bool, limit int) {
	switch {
	case ok && (skip || e.name == "." || e.name == ".."):
	case !ok || !e.shown():
		l.unknown++
	case len(l.entries) == limit:
		l.incomplete = fmt.Sprintf("the listing exceeds %d entries", limit)
	default:
		l.entries = append(l.entries, e)
	}
}

// listing renders the parsed entries; location is the URI of their directory.
func (f *fetch) listing(found listed, location string) *scheme.Resource {
	t := f.target
	l := &scheme.Listing{
		Kind: scheme.KindDirectory, Title: t.title(), URI: location, Parent: t.parent(), Incomplete: found.incomplete,
	}
	if l.Notes = f.notes; len(t.path()) == 0 {
		l.Notes = f.control.welcome
	}
	if found.unknown > 0 {
		l.Warnings = append(l.Warnings, fmt.Sprintf("omitted lines in an unknown format: %d", found.unknown))
	}
	if f.hasPassword() {
		l.Warnings = append(l.Warnings, "The links of this page omit the password of its address. A program that uses "+
			"this server as its proxy prompts for it; at /fetch, add it to the address again.")
	}
	sortEntries(found.entries)
	l.Items = make([]scheme.Item, 0, len(found.entries))
	size := int64(0)
	for i, e := range found.entries {
		l.Items = append(l.Items, e.item(l.URI))
		if size += l.Items[i].RenderedSize(); size > f.config.Limits.Bytes {
			l.Incomplete = fmt.Sprintf("the listing exceeds %d bytes", f.config.Limits.Bytes)
			break
		}
	}
	return scheme.ListingResource(l)
}
