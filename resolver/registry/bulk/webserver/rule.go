package webserver

import (
	"errors"
	"fmt"
	"net/http"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// rule is what a web server does with the paths that it matches, unless an earlier rule matches them. A
// configuration is a list of rules.
type rule struct {
	line  int64
	input string

	paths   []string // exact paths, if pattern is nil
	pattern *pattern // matched against the path after dir
	dir     string
	except  func(path string) bool // excludes paths that match; nil excludes none
	besides func(key string) bool  // excludes paths below a prefix; nil excludes none
	mask    uint64                 // bit mask of the samples of Accept that it applies to

	fail     error // why the rule gets no entries
	never    error // why the rule never matches at this address
	unmapped []string

	status int // 0 is a redirect with the default status of the registry
	target []part
	query  query
	finish func(substituted string) string // converts the substituted target to the location
}

// query says how a rule treats the query of a request.
type query uint8

const (
	queryAppended query = iota // after ? or &
	queryDropped
	queryLast   // appended after ?, even if the target has a fragment
	queryUnlike // the rule does not match requests with a query
)

// part is a part of a target.
type part struct {
	text    string
	group   bool // a capture of the expression; capture 0 is the whole match
	capture int
	all     bool // the whole path
}

// texts concatenates the literal texts of parts.
func texts(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// mark is the placeholder for the rest of a path after a prefix; no path contains it.
const mark = "\x00"

// redirects reports whether the rule has a redirect status.
func (r *rule) redirects() bool { return r.status == 0 || r.status/100 == 3 }

// refuses reports whether the rule returns an error status that the registry cannot express.
func (r *rule) refuses() bool { return r.fail == nil && !r.redirects() && r.status != http.StatusGone }

// match returns the captures of a path, nil if the rule does not match it.
func (r *rule) match(path string) []string {
	if r.pattern == nil {
		if slices.Contains(r.paths, path) {
			return []string{path}
		}
		return nil
	}
	subject, ok := strings.CutPrefix(path, r.dir)
	if !ok || r.except != nil && r.except(path) {
		return nil
	}
	found := r.pattern.FindStringSubmatch(latin1(subject))
	for i := range found {
		found[i] = bytesOf([]rune(found[i]))
	}
	return found
}

// substitute returns the target for a path.
func (r *rule) substitute(path string, captures []string) string {
	var b strings.Builder
	for _, p := range r.target {
		switch {
		case p.all:
			b.WriteString(path)
		case p.group && p.capture < len(captures):
			b.WriteString(captures[p.capture])
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// element is a byte of a path, or an expression that matches several texts.
type element struct {
	c    byte
	many *syntax.Regexp
}

func elements(pieces []piece) (all []element) {
	for _, p := range pieces {
		if p.many != nil {
			all = append(all, element{many: p.many})
		}
		for i := range len(p.text) {
			all = append(all, element{c: p.text[i]})
		}
	}
	return all
}

// template returns the target of a prefix route, with mark in place of the rest after key. key may be longer
// than the prefix of the route.
func (r *rule) template(of *route, key string) (string, error) {
	if r.fail != nil {
		return "", r.fail
	}
	longer, ok := strings.CutPrefix(key, of.path)
	if !ok {
		return "", errTarget
	}
	return join(r.elements(of), elements(of.rest), longer)
}

// elements returns the target with captures replaced by the pieces of a route.
func (r *rule) elements(of *route) (all []element) {
	for _, p := range r.target {
		switch {
		case p.all:
			all = append(append(all, elements([]piece{{text: r.dir}})...), elements(of.pieces)...)
		case p.group && p.capture == 0:
			all = append(all, elements(of.pieces)...)
		case p.group:
			begin := slices.IndexFunc(of.pieces, func(q piece) bool { return q.open == p.capture })
			end := slices.IndexFunc(of.pieces, func(q piece) bool { return q.close == p.capture })
			if begin >= 0 && end >= begin {
				all = append(all, elements(of.pieces[begin:end])...)
			}
		default:
			all = append(all, elements([]piece{{text: p.text}})...)
		}
	}
	return all
}

// join returns elements as a text, in which the text begin and mark replace the elements of rest.
func join(all, rest []element, begin string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(all); i++ {
		switch {
		case len(rest) > 0 && len(all)-i >= len(rest) && slices.Equal(all[i:i+len(rest)], rest):
			b.WriteString(begin + mark)
			i += len(rest) - 1
		case all[i].many != nil:
			return "", errTarget
		default:
			b.WriteByte(all[i].c)
		}
	}
	return b.String(), nil
}

// check finds routes whose captures differ from those of the expression, which may match a path in several
// ways.
func (r *rule) check(b *budget) { //nolint:cyclop // one comparison per route
	if r.fail != nil || !r.redirects() || !slices.ContainsFunc(r.target, func(p part) bool { return p.group }) {
		return
	}
	for i := range r.pattern.routes {
		of := &r.pattern.routes[i]
		if !of.prefix || of.err != nil {
			continue
		}
		template, err := r.template(of, of.path)
		if err != nil {
			of.err = err
			continue
		}
		languages := []*language{of.lang}
		for n := range r.pattern.routes {
			if r.pattern.routes[n].prefix && n != i {
				languages = append(languages, r.pattern.routes[n].lang)
			}
		}
		complete := b.search(languages, 1, func(path string, has []bool) bool {
			if captures := r.match(path); has[0] && captures != nil &&
				r.substitute(path, captures) != strings.ReplaceAll(template, mark, path[len(of.path):]) {
				of.err = errLazy
			}
			return of.err == nil
		})
		if !complete && of.err == nil {
			of.err = errExpression
		}
	}
}

// outcome is the response for a path, or for all paths of a prefix route.
type outcome struct {
	status int
	target string // the location of a redirect; of a prefix, the target for the registry
	query  query
}

// outcome returns the outcome for a path.
func (r *rule) outcome(path string, captures []string) outcome {
	if r.fail != nil || !r.redirects() {
		return outcome{status: r.status}
	}
	return outcome{r.status, r.finish(r.substitute(path, captures)), r.query}
}

// prefixOutcome returns the outcome for the paths below key that a route matches.
func (r *rule) prefixOutcome(of *route, key string) (outcome, error) {
	switch {
	case r.fail != nil:
		return outcome{}, r.fail
	case of.err != nil:
		return outcome{}, of.err
	case !r.redirects():
		return outcome{status: r.status}, nil
	case r.query == queryDropped || r.query == queryUnlike:
		return outcome{}, errors.New("the server drops the query of a request, a prefix of the registry appends it")
	case r.query == queryLast:
		return outcome{}, errors.New("target with a fragment, after which the server appends the query of a request")
	}
	template, err := r.template(of, key)
	if err != nil {
		return outcome{}, err
	}
	location := r.finish(template)
	target, err := registryTarget(location)
	return outcome{r.status, target, r.query}, err
}

// nothing is a template variable without a value, by which all names below a prefix resolve to the same
// location (RFC 6570 section 3.2.1).
const nothing = "{none}"

// registryTarget converts a location with marks to a target of a prefix.
func registryTarget(location string) (string, error) {
	_, rest, ok := strings.Cut(location, "://")
	server, _, _ := strings.Cut(rest, "/")
	if !ok || strings.Contains(server, mark) {
		return "", errors.New("target with a host that depends on the path")
	}
	text := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(location)
	switch first := strings.Index(text, mark); {
	case first < 0:
		return text + nothing, nil
	case first == len(text)-1 && first > len("https://")+len(server):
		return text[:first], nil
	default:
		return strings.ReplaceAll(text, mark, "{+suffix}"), nil
	}
}

// Item is an entry made from a configuration, or a rule that cannot be imported.
type Item struct {
	Line     int64
	Input    string // the text of the rule
	Entry    registry.Entry
	Unmapped []string // parts of the rule that the registry cannot express
	Err      error    // why the rule makes no entry
}

// Gone is the reason of withdrawn names for which the server returns 410.
const Gone = "gone: status 410 of the server"

// held is the note of names reserved because the server answers them by a rule that was not imported, and the
// entry of a prefix would answer for them otherwise.
const held = "reserved by the import: a rule that was not imported applies"

// record sets the fields of an entry for an outcome.
func (o outcome) record(e *registry.Entry) error {
	switch {
	case o.status == http.StatusGone:
		e.Status, e.Reason = registry.Withdrawn, Gone
	case o.status == 0 || o.status/100 == 3:
		redirect, err := registry.ParseRedirect(strconv.Itoa(o.status))
		if err != nil {
			return fmt.Errorf("status %d has no target", o.status)
		}
		e.Redirect = redirect
	default:
		return fmt.Errorf("status %d has no target", o.status)
	}
	return nil
}
