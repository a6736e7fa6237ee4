package nntp

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/emersion/go-message"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// article returns the listing that displays an article.
func (x exchange) article() (*scheme.Resource, error) {
	id, byteCount, err := x.openArticle()
	if err != nil {
		return nil, err
	}
	limit := x.config.Limits.Bytes
	data, err := io.ReadAll(io.LimitReader(byteCount, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading an article: %w", err)
	}
	l := &scheme.Listing{
		Kind: scheme.KindArticle, Title: scheme.DecodeText(strings.Trim(id, "<>")),
		URI: x.target.links.self,
	}
	if int64(len(data)) > limit {
		data, l.Incomplete = data[:limit],
			fmt.Sprintf("article truncated after %d bytes; the source is complete", limit)
	}
	x.show(l, data)
	if err := x.client.ended(); err != nil {
		return nil, fmt.Errorf("showing an article: %w", err)
	}
	l.Items = append(l.Items, scheme.Item{
		Kind: scheme.ItemDocument, Name: "source", Type: "message/rfc822",
		URI: x.target.links.within(uri.NewsQuery{Source: true}),
	})
	return scheme.ListingResource(l), nil
}

// show fills the listing of an article from its source.
func (x exchange) show(l *scheme.Listing, data []byte) {
	e, err := readEntity(&untilEnd{bytes.NewReader(data), x.client.ended})
	if err != nil {
		l.Warnings = []string{"Malformed header: the article is shown unparsed."}
		l.Text = scheme.DecodeLines(string(data))
		return
	}
	x.showHeader(l, e.Header)
	var files []embedded
	if hasEmbedded(e) {
		var rest []byte
		if rest, files = detach(data); len(files) > 0 {
			if e, err = readEntity(&untilEnd{bytes.NewReader(rest), x.client.ended}); err != nil {
				return // ctx has ended
			}
		}
	}
	parts, warnings := partsOf(e, x.config.Limits.Bytes)
	l.Warnings = warnings
	text, rest := shown(parts)
	l.Text = text
	for _, p := range rest {
		l.Items = append(l.Items, x.partItem(p))
	}
	for i, file := range files {
		l.Items = append(l.Items, x.embeddedItem(i+1, file))
	}
}

// untilEnd stops reading when the context has ended, because a malicious article may take long to parse.
type untilEnd struct {
	io.Reader
	ended func() error
}

// Read implements io.Reader.
func (u *untilEnd) Read(p []byte) (int, error) {
	if err := u.ended(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// showHeader fills in the header fields of an article.
func (x exchange) showHeader(l *scheme.Listing, h message.Header) {
	if subject := headerText(h.Get("Subject")); strings.TrimSpace(subject) != "" {
		l.Title = subject
	}
	for _, name := range [...]string{
		"From", "Sender", "Reply-To", "Organization", "Newsgroups", "Followup-To", "Subject", "Date", "Message-ID",
		"In-Reply-To", "References", "Supersedes", "Distribution", "Expires", "Keywords", "Summary", "Approved",
		"Archived-At", "User-Agent",
	} {
		value := h.Get(name)
		if value == "" {
			continue
		}
		switch name {
		case "Newsgroups", "Followup-To":
			l.Properties = append(l.Properties, x.groupProperties(name, value)...)
		case "Message-ID", "In-Reply-To", "References", "Supersedes":
			l.Properties = append(l.Properties, x.messageProperties(name, value)...)
		default:
			l.Properties = append(l.Properties, scheme.Property{Name: name, Value: headerText(value)})
		}
	}
	l.Parent = x.parent(h)
}

// groupProperties returns a property for each group in a field: RFC 5536 section 3.1.4.
func (x exchange) groupProperties(name, value string) (found []scheme.Property) {
	for group := range strings.SplitSeq(value, ",") {
		group = strings.TrimSpace(group)
		if group == "" {
			continue
		}
		if len(found) == maxReferences {
			break
		}
		p := scheme.Property{Name: name, Value: headerText(group)}
		if name != "Followup-To" || group != "poster" { // RFC 5536 section 3.2.6: replies go by mail
			p.URI = x.target.links.group(group, uri.NewsQuery{})
		}
		found = append(found, p)
	}
	return found
}

// messageProperties returns a property for each message-id in a field, or the whole field if it has none.
func (x exchange) messageProperties(name, value string) (found []scheme.Property) {
	for _, id := range messageIDs(value) {
		found = append(found, scheme.Property{
			Name: name, Value: headerText(id),
			URI: x.target.links.message(strings.Trim(id, "<>")),
		})
	}
	if found == nil {
		found = []scheme.Property{{Name: name, Value: headerText(value)}}
	}
	return found
}

// parent returns the link to the group of an article: that of the URL, else the first of Newsgroups.
func (x exchange) parent(h message.Header) *scheme.Link {
	group := x.target.group
	if group == "" {
		group, _, _ = strings.Cut(h.Get("Newsgroups"), ",")
		group = strings.TrimSpace(group)
	}
	to := x.target.links.group(group, uri.NewsQuery{})
	if to == "" {
		return nil
	}
	return &scheme.Link{Text: headerText(group), URI: to}
}
