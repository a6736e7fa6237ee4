package bulk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// bioregistry reads the registry.json of the Bioregistry (https://bioregistry.io): each of its prefixes that has a format of URIs
// becomes a prefix of the registry. The line numbers count all of its prefixes.
type bioregistry struct {
	input   *boundedReader
	base    string // what the prefixes begin with: "" makes CURIEs, as "chebi:24867"
	decoder *json.Decoder
	number  int64
}

// bioregistryPrefix is what is read of one of its prefixes.
type bioregistryPrefix struct {
	Name        string                `json:"name"`
	Description string                `json:"description"`
	Homepage    string                `json:"homepage"`
	Pattern     string                `json:"pattern"`    // of what follows the prefix
	URIFormat   string                `json:"uri_format"` // with $1, which stands for the rest
	Providers   []bioregistryProvider `json:"providers"`
	Contact     struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"contact"`
	Synonyms   []string `json:"synonyms"`
	Deprecated bool     `json:"deprecated"`
}

// bioregistryProvider is another server for a prefix. Its code is its name where it has no other.
type bioregistryProvider struct {
	Code      string `json:"code"`
	Name      string `json:"name"`
	URIFormat string `json:"uri_format"`
}

func newBioregistry(r io.Reader, base string) (foreign, error) {
	p := &bioregistry{input: &boundedReader{r: r, left: maxLine}, base: base}
	p.decoder = json.NewDecoder(p.input)
	if t, err := p.decoder.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("the input is not the registry.json of the Bioregistry"), err)
	}
	return p, nil
}

func (p *bioregistry) next() (*item, error) {
	p.input.left = maxLine
	if !p.decoder.More() {
		if _, err := p.decoder.Token(); err != nil {
			return nil, fmt.Errorf("the registry of the Bioregistry: %w", endless(err))
		}
		return nil, io.EOF
	}
	name, err := p.decoder.Token()
	if err != nil {
		return nil, fmt.Errorf("the registry of the Bioregistry: %w", endless(err))
	}
	var text json.RawMessage
	if err := p.decoder.Decode(&text); err != nil {
		return nil, fmt.Errorf("%v in the registry of the Bioregistry: %w", name, endless(err))
	}
	p.number++
	var prefix bioregistryPrefix
	err = registry.UniqueMembers(text)
	if err == nil {
		err = json.Unmarshal(text, &prefix)
	}
	if err != nil {
		return rejected(p.number, fmt.Sprint(name), "it is no prefix of the Bioregistry: %w", err), nil
	}
	return prefix.item(p.number, p.base, fmt.Sprint(name), text), nil
}

// item makes the prefix.
func (b *bioregistryPrefix) item(number int64, base, prefix string, text json.RawMessage) *item {
	i := newItem(number, base+prefix+":")
	i.nameEncoded(base, prefix, prefix+":")
	i.entry.Key = registry.Prefix(i.entry.Name)
	i.format(b.URIFormat, "")
	for _, provider := range b.Providers {
		i.format(provider.URIFormat, cmp.Or(provider.Name, provider.Code))
	}
	switch err := registry.CheckPattern(b.Pattern); {
	case err != nil:
		i.loseField("pattern", "of what follows it: %v", err)
	case b.Pattern != "":
		i.entry.Pattern = b.Pattern
		i.said.add(fieldPattern)
	}
	i.describe("title", b.Name)
	i.describe("description", b.Description)
	i.describe("homepage", b.Homepage)
	i.contact(b.Contact.Name, b.Contact.Email)
	if len(b.Synonyms) > 0 {
		i.describe("synonyms", b.Synonyms)
		i.loseField("synonyms", "that it is written %.200s, too: names that begin so are not found, and it is in the metadata",
			strings.Join(b.Synonyms, ", "))
	}
	if b.Deprecated {
		i.describe("deprecated", true)
		i.loseField("deprecated", "that it is deprecated: it is active, and it is in the metadata")
	}
	i.loseMembers(b.unmapped(text))
	return i
}

// unmapped returns the names of what is not imported.
func (b *bioregistryPrefix) unmapped(text json.RawMessage) []string {
	names := unmappedMembers(text, "", "prefix", "name", "description", "homepage", "pattern", "uri_format", "providers",
		"contact", "synonyms", "deprecated")
	var of struct {
		Providers json.RawMessage `json:"providers"`
		Contact   json.RawMessage `json:"contact"`
	}
	if json.Unmarshal(text, &of) != nil {
		return names // it was decoded before
	}
	isCoded := slices.ContainsFunc(b.Providers, func(p bioregistryProvider) bool { return p.Name != "" && p.Code != "" })
	if isCoded {
		names = append(names, "providers.code")
	}
	names = append(names, unmappedIn(of.Providers, "providers.", "code", "name", "uri_format")...)
	return append(names, unmappedMembers(of.Contact, "contact.", "name", "email")...)
}

// format adds the target of a format of URIs.
func (i *item) format(format, title string) {
	switch {
	case strings.Contains(format, "$1"):
		i.to(registry.Target{URI: template(format), Title: title})
	case format != "":
		i.loseField("uri_format", "the format %.200s, which has no $1", format)
	}
}

// template returns the target of a prefix for a format of URIs: what comes before "$1" if that is its end, else a
// template.
func template(format string) string {
	format = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(format)
	if before, after, _ := strings.Cut(format, "$1"); after == "" {
		return before
	}
	return strings.ReplaceAll(format, "$1", "{+suffix}")
}
