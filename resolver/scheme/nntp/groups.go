package nntp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// allGroups is the pattern of all groups.
const allGroups = "*"

// groups returns the listing of the groups that match a pattern.
func (x exchange) groups() (*scheme.Resource, error) {
	pattern := x.target.group
	l := &scheme.Listing{Kind: scheme.KindGroups, Title: scheme.DecodeText(pattern), URI: x.target.links.self}
	if pattern != allGroups {
		l.Parent = &scheme.Link{Text: "all groups", URI: x.target.links.news + allGroups}
	}
	isCount, err := x.list()
	if err != nil {
		return nil, err
	}
	index := make(map[string]int)
	h := newHierarchies(pattern)
	lines := x.client.lines()
	for lines.next() {
		name, count, ok := parseActive(lines.text(), isCount)
		_, known := index[name]
		if !ok || known || !matchPattern(pattern, name) { // the server ignored the pattern
			continue
		}
		h.add(name, x.config.Limits.Entries)
		if len(l.Items) == x.config.Limits.Entries {
			l.Incomplete = fmt.Sprintf("only the first %d groups are shown", len(l.Items))
			continue
		}
		index[name] = len(l.Items)
		l.Items = append(l.Items, scheme.Item{
			Kind: scheme.ItemGroup, Name: scheme.DecodeText(name), URI: x.target.links.group(name, uri.NewsQuery{}),
			Count: &count,
		})
	}
	if err := lines.end(); err != nil {
		return nil, err
	}
	if h.isBetter(len(l.Items), x.config.PageSize) {
		l.Items, l.Incomplete = x.hierarchyItems(l.Items, h), h.incomplete
		if lines.truncated {
			l.Incomplete = tooLong(x.config.Limits.Bytes)
		}
		return scheme.ListingResource(l), nil
	}
	if lines.truncated { // the rest of the response is unread, so no other command can follow
		l.Incomplete = tooLong(x.config.Limits.Bytes)
	} else if err := x.describe(pattern, func(name, description string) {
		if i, ok := index[name]; ok {
			l.Items[i].Note = description
		}
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(l.Items, func(a, b scheme.Item) int { return cmp.Compare(a.Name, b.Name) })
	return scheme.ListingResource(l), nil
}

// list sends the command that lists groups; isCount is that of listCommand.
func (x exchange) list() (isCount bool, err error) {
	command, isCount := x.listCommand()
	r, err := x.client.command(command)
	if err == nil && (r.code == codeUnknown || r.code == codeSyntax) {
		r, err = x.client.command("LIST") // RFC 977 has no arguments
		isCount = false
	}
	if err != nil {
		return false, err
	}
	if r.code != codeList {
		return false, r.refusal(x.server)
	}
	return isCount, nil
}

// listCommand returns the command that lists the groups. isCount is true if its response has article counts
// (RFC 6048 section 2.2); otherwise it is that of RFC 3977 section 7.6.3.
func (x exchange) listCommand() (command string, isCount bool) {
	if x.client.capabilities.has("LIST", "COUNTS") {
		return "LIST COUNTS " + x.target.group, true
	}
	return "LIST ACTIVE " + x.target.group, false
}

// maxName is the maximum length of a group name in bytes: a longer one does not fit into a command (RFC 3977
// section 3.1).
const maxName = 497

// parseActive parses a line of LIST ACTIVE, "name high low status", or of LIST COUNTS, which has the article
// count before the status. Without isCount the count is estimated, as GROUP may do.
func parseActive(line string, isCount bool) (name string, count int64, ok bool) {
	words := strings.Fields(line)
	const least = 3
	if len(words) < least || len(words[0]) > maxName {
		return "", 0, false
	}
	high, isHigh := scheme.ParseSize(words[1])
	low, isLow := scheme.ParseSize(words[2])
	if !isHigh || !isLow {
		return "", 0, false
	}
	if isCount {
		if len(words) == least {
			return "", 0, false
		}
		count, ok := scheme.ParseSize(words[3])
		return words[0], count, ok
	}
	if high >= low && high > 0 { // in an empty group high is low - 1
		count = high - max(low, 1) + 1
	}
	return words[0], count, true
}

// describe calls set with the description of each group that matches a pattern, if the server has descriptions:
// RFC 3977 section 7.6.6.
func (x exchange) describe(pattern string, set func(name, description string)) error {
	r, err := x.client.command("LIST NEWSGROUPS " + pattern)
	if err != nil || r.code != codeList {
		return err
	}
	lines := x.client.lines()
	for lines.next() {
		if name, description, ok := parseDescription(lines.text()); ok {
			set(name, description)
		}
	}
	return lines.end()
}

// parseDescription parses a line of LIST NEWSGROUPS: name, spaces or tabs, description.
func parseDescription(line string) (name, description string, ok bool) {
	i := strings.IndexAny(line, " \t")
	if i <= 0 {
		return "", "", false
	}
	description = scheme.DecodeText(strings.TrimSpace(line[i:]))
	return line[:i], description, description != "" && description != "?"
}

// matchPattern reports whether a name matches a pattern with "*" and "?". There is no escape character.
func matchPattern(pattern, name string) bool {
	star, from := -1, 0 // position of the last star, and of the name after its match
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0: // extend the match of the star by a byte
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// tooLong returns the reason for a truncated listing.
func tooLong(limit int64) string {
	return fmt.Sprintf("response truncated after %d bytes", limit)
}
