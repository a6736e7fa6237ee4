package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Bounds of what is registered. Octets, but for the numbers of targets and successors.
const (
	MaxName       = 1280
	MaxKey        = 2600 // of the key of a document: two names, which an index of PostgreSQL still takes
	MaxTargets    = 100
	MaxSuccessors = 100
	MaxMetadata   = 64 << 10
	MaxText       = 4 << 10 // of a note, reason or contact
)

// CanonicalKey returns the key of a canonical name or prefix. The error wraps ErrInvalid.
func (r *Registry) CanonicalKey(key Key) (Key, error) {
	if len(key.Name) > MaxName {
		return Key{}, fmt.Errorf("%w: the name has more than %d octets", ErrInvalid, MaxName)
	}
	canonical := r.config.Canonical
	if key.Kind == KindPrefix {
		canonical = r.config.CanonicalPrefix
	}
	name, err := canonical(key.Name)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if key.Kind == KindPrefix && !IsDelimiter(name[len(name)-1]) {
		return Key{}, fmt.Errorf("%w: the prefix %q must end with a character that is neither a letter nor a digit, "+
			"such as \":\", so that it ends where a part of names does", ErrInvalid, name)
	}
	return Key{key.Kind, name}, nil
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

// Check returns a record as it is stored for a canonical key: names in it are canonical.
// The error wraps ErrInvalid.
func (r *Registry) Check(key Key, record Record) (Record, error) {
	checked, err := r.check(key, record)
	if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNoStore) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", key, err)
	}
	return checked, nil
}

func (r *Registry) check(key Key, record Record) (Record, error) {
	if err := checkTexts(record); err != nil {
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

// alias returns the canonical name that a record is an alias of, "" for none.
func (r *Registry) alias(key Key, record Record) (string, error) {
	if record.Alias == "" {
		return "", nil
	}
	if key.Kind == KindPrefix || len(record.Targets) > 0 {
		return "", errors.New("an alias is a name, and has no targets of its own")
	}
	name, err := r.config.Canonical(record.Alias)
	if err == nil && name == key.Name {
		err = errors.New("it is an alias of itself")
	}
	return name, err
}

// successors returns the canonical names of the successors of a key.
func (r *Registry) successors(key Key, given []string) ([]string, error) {
	if len(given) > MaxSuccessors {
		return nil, fmt.Errorf("more than %d successors", MaxSuccessors)
	}
	names := slices.Clone(given)
	for i, successor := range given {
		name, err := r.config.Canonical(successor)
		if err == nil && name == key.Name {
			err = errors.New("it is its own successor")
		}
		if err == nil && !isLinkable(name) {
			err = fmt.Errorf("%q cannot be a successor", successor)
		}
		if err != nil {
			return nil, err
		}
		names[i] = name
	}
	return names, nil
}

// isLinkable reports whether pages may link to a URI: a name, or a location of an allowed scheme.
func isLinkable(text string) bool {
	u, err := uri.Parse(text)
	return err == nil && (!errors.Is(resolver.CheckScheme(u), resolver.ErrForbidden))
}

// checkTexts checks what is not a URI.
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
			return errors.New("the metadata is not a JSON object")
		}
	}
	return nil
}

// CheckText returns an error where a text, which its name tells, has more octets than most, or is no text.
func CheckText(name, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the %s has more than %d octets", name, most)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("the %s is not UTF-8 text", name)
	default:
		return nil
	}
}

// checkTargets checks the targets of a key.
func checkTargets(key Key, targets []Target) error {
	if len(targets) > MaxTargets {
		return fmt.Errorf("more than %d targets", MaxTargets)
	}
	for _, t := range targets {
		if err := checkTarget(key, t); err != nil {
			return fmt.Errorf("target %q: %w%s", t.URI, err, encodedHelp(key, t.URI))
		}
	}
	return nil
}

// encodedHelp returns what may be meant by a target that is no URI: people write spaces and letters beyond ASCII.
func encodedHelp(key Key, target string) string {
	u, err := uri.FromIRI(target)
	if err != nil || key.Kind == KindPrefix || u.String() == target || resolver.CheckLocation(u.String()) != nil {
		return ""
	}
	return "; encoded it is " + u.String()
}

func checkTarget(key Key, t Target) error {
	if len(t.URI) > resolver.MaxLocation {
		return fmt.Errorf("it has more than %d octets", resolver.MaxLocation)
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
		return errors.New("the rest of a name would become a part of its server: end that with \"/\"")
	}
	if !t.From.IsZero() && !t.Until.IsZero() && !t.From.Before(t.Until) {
		return errors.New("it ends before it begins")
	}
	for _, f := range [...][2]string{{"media type", t.Type}, {"language", t.Language}, {"note", t.Note}, {"title", t.Title}, {"context", t.Context}} {
		if err := CheckText(f[0], f[1], MaxText); err != nil {
			return err
		}
	}
	if strings.ContainsAny(t.Type+t.Language+t.Title+t.Context, "\r\n") {
		return errors.New("a media type, language, title or context has one line")
	}
	return CheckRelation(t.Rel)
}

// CheckRelation returns an error unless a target may have a relation: see uri.CheckRelation.
func CheckRelation(rel string) error { return uri.CheckRelation(rel) }

// Leads reports whether the name itself leads to the target. Others are only named with it.
func (t Target) Leads() bool { return resolver.Leads(t.Rel) }

// maxNested bounds how deep JSON that people write is nested.
const maxNested = 1000

// UniqueMembers returns ErrInvalid where readers of a JSON text take different things from it: an object has two members of one name, of
// which they take one or the other (RFC 8259 section 4), or a string has bytes that are not UTF-8, or half of a surrogate pair, which they
// replace (sections 8.1 and 8.2). Of a text that is no JSON it returns nil.
func UniqueMembers(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	for {
		_, err := d.ReadToken()
		var syntax *jsontext.SyntacticError
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
			return fmt.Errorf("%w: the JSON has the member %q twice", ErrInvalid, syntax.JSONPointer.LastToken())
		case errors.As(err, &syntax) && json.Valid(text): // which takes strings that are not Unicode
			return fmt.Errorf("%w: the JSON has a string that is not Unicode, after byte %d: %w", ErrInvalid, syntax.ByteOffset, syntax.Err)
		case err != nil:
			return nil //nolint:nilerr // who decodes it says what is wrong, also at its end
		case d.StackDepth() > maxNested:
			return fmt.Errorf("%w: the JSON is nested too deep", ErrInvalid)
		}
	}
}
