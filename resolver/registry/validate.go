package registry

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Limits of a record, in bytes, except for the numbers of targets and successors.
const (
	MaxName       = 1280
	MaxKey        = 2600 // of the key of a document: two names, which still fit into an index of PostgreSQL
	MaxTargets    = 100
	MaxSuccessors = 100
	MaxMetadata   = 64 << 10
	MaxText       = 4 << 10 // of a note, reason or contact
)

// CanonicalKey returns a key with its canonical name or prefix. The error wraps ErrInvalid.
func (r *Registry) CanonicalKey(key Key) (Key, error) {
	if len(key.Name) > MaxName {
		return Key{}, Invalid("name_long", "name", "name exceeds %d bytes", MaxName)
	}
	canonical := r.config.Canonical
	if key.Kind == KindPrefix {
		canonical = r.config.CanonicalPrefix
	}
	name, err := canonical(key.Name)
	if err != nil {
		return Key{}, malformed("name", key.Name, err)
	}
	if key.Kind == KindPrefix && !IsDelimiter(name[len(name)-1]) {
		return Key{}, Invalid("prefix_end", "name",
			"the prefix %q must end with a character that is neither a letter nor a digit, "+
				"such as \":\", at the end of a part of names", name)
	}
	return Key{key.Kind, name}, nil
}

// malformed returns the error for a field that has no canonical name, with the unparsable rest of the text if
// the parser reported an offset.
func malformed(field, text string, err error) *Error {
	var parse *uri.ParseError
	if errors.As(err, &parse) && 0 < parse.Offset && parse.Offset < len(parse.Input) {
		return Invalid("name_malformed_at", field, "%w", err).With("Name", parse.Input, "Rest",
			parse.Input[parse.Offset:])
	}
	return Invalid("name_malformed", field, "%w", err).With("Name", text)
}

// IsDelimiter reports whether a prefix may end with b.
func IsDelimiter(b byte) bool {
	switch {
	case '0' <= b && b <= '9', 'a' <= uri.Lower(b) && uri.Lower(b) <= 'z', b == '%':
		return false
	default:
		return true
	}
}

// Check validates a record for a canonical key, and returns it in its stored form, with canonical names. The
// error wraps ErrInvalid.
func (r *Registry) Check(key Key, record Record) (Record, error) {
	checked, err := r.check(key, record)
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", key, err)
	}
	return checked, nil
}

func (r *Registry) check(key Key, record Record) (Record, error) {
	if err := checkTexts(record); err != nil {
		return Record{}, err
	}
	if err := CheckTime("since", record.Since); err != nil {
		return Record{}, err
	}
	if record.Redirect != 0 && !isRedirect(record.Redirect) {
		_, err := ParseRedirect(strconv.Itoa(record.Redirect))
		return Record{}, err
	}
	var err error
	if record.Alias, err = r.alias(key, record); err != nil {
		return Record{}, err
	}
	if record.Status != Withdrawn {
		record.Reason, record.Successors = "", nil
	}
	if record.Successors, err = r.successors(key, record.Successors); err != nil {
		return Record{}, err
	}
	if key.Kind == KindName {
		record.Authoritative, record.Pattern = false, ""
	}
	if err := CheckPattern(record.Pattern); err != nil {
		return Record{}, err
	}
	return record, checkTargets(key, record.Targets)
}

// alias returns the canonical name of the alias target of a record, "" if it is no alias.
func (r *Registry) alias(key Key, record Record) (string, error) {
	if record.Alias == "" {
		return "", nil
	}
	if key.Kind == KindPrefix || len(record.Targets) > 0 {
		return "", Invalid("alias_with_targets", "alias", "an alias must be a name, and cannot have targets")
	}
	name, err := r.config.Canonical(record.Alias)
	switch {
	case err != nil:
		return "", malformed("alias", record.Alias, err)
	case name == key.Name:
		return "", Invalid("alias_of_itself", "alias", "alias of itself")
	}
	return name, nil
}

// successors returns the canonical names of the successors of a key.
func (r *Registry) successors(key Key, given []string) ([]string, error) {
	if len(given) > MaxSuccessors {
		return nil, Invalid("too_many_successors", "successors", "more than %d successors", MaxSuccessors)
	}
	names := slices.Clone(given)
	for i, successor := range given {
		name, err := r.config.Canonical(successor)
		switch {
		case err != nil:
			return nil, malformed("successors", successor, err)
		case name == key.Name:
			return nil, Invalid("own_successor", "successors", "successor of itself")
		case !isLinkable(name):
			return nil, Invalid("no_successor", "successors", "invalid successor %q", successor)
		}
		names[i] = name
	}
	return names, nil
}

// isLinkable reports whether pages may link to a URI: a name, or a location with an allowed scheme.
func isLinkable(text string) bool {
	u, err := uri.Parse(text)
	return err == nil && (!errors.Is(resolver.CheckScheme(u), resolver.ErrForbidden))
}

// checkTexts checks the fields that are not URIs.
func checkTexts(record Record) error {
	for _, f := range []struct {
		name, text string
		most       int
	}{
		{"reason", record.Reason, MaxText},
		{"contact", record.Contact, MaxText},
		{"metadata", record.Metadata, MaxMetadata},
	} {
		if err := CheckText(f.name, f.text, f.most); err != nil {
			return err
		}
	}
	if record.Metadata != "" {
		var object map[string]any
		if err := json.Unmarshal([]byte(record.Metadata), &object); err != nil || object == nil {
			return Invalid("metadata_no_object", "metadata", "metadata must be a JSON object")
		}
	}
	return nil
}

// CheckText returns ErrInvalid if the text of a field has more than most bytes, contains a NUL or is not UTF-8.
func CheckText(name, text string, most int) error {
	shown := name
	if name == "type" {
		shown = "media type"
	}
	switch {
	case len(text) > most && name == "metadata":
		return Invalid("metadata_long", name, "%s exceeds %d bytes", shown, most)
	case len(text) > most:
		return Invalid("text_long", name, "%s exceeds %d bytes", shown, most).With("Most", strconv.Itoa(most))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return Invalid("text_encoding", name, "%s is not UTF-8 text", shown)
	default:
		return nil
	}
}

// CheckTime returns ErrInvalid if the year of a time in UTC does not have four digits: such a time has no form in
// RFC 3339 (section 5.6), so that no document with it could be written.
func CheckTime(name string, t time.Time) error {
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return Invalid("time_malformed", name, "%s in the year %d (UTC), the limits are 0 and 9999", name, year)
	}
	return nil
}

// checkTargets checks the targets of a key.
func checkTargets(key Key, targets []Target) error {
	if len(targets) > MaxTargets {
		return Invalid("too_many_targets", "targets", "more than %d targets", MaxTargets)
	}
	for i, t := range targets {
		if err := checkTarget(key, t); err != nil {
			is := Invalid("target_malformed", "uri", "%w", err)
			_ = errors.As(err, &is)
			is.Target, is.Reason = i+1, fmt.Errorf("target %q: %w%s", t.URI, is.Reason, encodedHelp(key, t.URI))
			return is
		}
	}
	return nil
}

// encodedHelp returns a hint, as the end of an error message, for a target that becomes a URI by
// percent-encoding: users often write spaces and non-ASCII letters.
func encodedHelp(key Key, target string) string {
	u, err := uri.FromIRI(target)
	if err != nil || key.Kind == KindPrefix || u.String() == target || resolver.CheckLocation(u.String()) != nil {
		return ""
	}
	return "; percent-encoded: " + u.String()
}

func checkTarget(key Key, t Target) error {
	if len(t.URI) > resolver.MaxLocation {
		return Invalid("target_long", "uri", "longer than %d bytes", resolver.MaxLocation)
	}
	location := t.URI
	if key.Kind == KindPrefix {
		var err error
		if location, err = substitute(t.URI, key.Name, key.Name+"0"); err != nil {
			return err
		}
	}
	if err := resolver.CheckLocation(location); err != nil {
		return err
	}
	if key.Kind == KindPrefix && !hasServer(t.URI, key.Name) {
		return Invalid("target_server_end", "uri", "the rest of a name would extend the host: end the host with \"/\"")
	}
	if err := cmp.Or(CheckTime("from", t.From), CheckTime("until", t.Until)); err != nil {
		return err
	}
	if !t.From.IsZero() && !t.Until.IsZero() && !t.From.Before(t.Until) {
		return Invalid("target_ends_early", "until", "end before start")
	}
	for _, f := range [...][2]string{
		{"type", t.Type},
		{"language", t.Language},
		{"note", t.Note},
		{"title", t.Title},
		{"context", t.Context},
	} {
		if err := CheckText(f[0], f[1], MaxText); err != nil {
			return err
		}
	}
	if strings.ContainsAny(t.Type+t.Language+t.Title+t.Context, "\r\n") {
		return Invalid("text_lines", "title", "line break in a media type, language, title or context")
	}
	if err := CheckRelation(t.Rel); err != nil {
		return Invalid("relation_malformed", "rel", "%w", err)
	}
	return nil
}

// CheckRelation returns an error unless rel is a valid relation of a target: see uri.CheckRelation.
func CheckRelation(rel string) error { return uri.CheckRelation(rel) }

// ResolvedTo reports whether the name itself resolves to the target. The other targets are only related to the name.
func (t Target) ResolvedTo() bool { return resolver.RelationResolves(t.Rel) }

// maxNested limits the nesting depth of JSON in requests.
const maxNested = 1000

// UniqueMembers returns ErrInvalid for a JSON text that parsers interpret differently: an object has two
// members of the same name, of which parsers take the first or the last (RFC 8259 section 4), or a string has
// invalid UTF-8 or an unpaired surrogate, which they replace (sections 8.1 and 8.2). It returns nil for a text
// that is not JSON.
func UniqueMembers(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	for {
		_, err := d.ReadToken()
		var syntax *jsontext.SyntacticError
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
			name := syntax.JSONPointer.LastToken()
			return Invalid("json_member_twice", "", "duplicate JSON member %q", name).With("Name", name)
		case errors.As(err, &syntax) && json.Valid(text): // encoding/json accepts strings that are not Unicode
			return Invalid("json_no_unicode", "", "invalid Unicode in a JSON string, after byte %d: %w",
				syntax.ByteOffset, syntax.Err)
		case err != nil:
			return nil //nolint:nilerr // the later decoding reports syntax errors
		case d.StackDepth() > maxNested:
			return Invalid("json_nested", "", "JSON nested too deep")
		}
	}
}
