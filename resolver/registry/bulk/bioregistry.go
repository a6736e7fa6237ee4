package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	Name      string `json:"name"`
	Homepage  string `json:"homepage"`
	Pattern   string `json:"pattern"`    // of what follows the prefix
	URIFormat string `json:"uri_format"` // with $1, which stands for the rest
	Providers []struct {
		URIFormat string `json:"uri_format"`
	} `json:"providers"`
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
	var prefix bioregistryPrefix
	if err := p.decoder.Decode(&prefix); err != nil {
		return nil, fmt.Errorf("%v in the registry of the Bioregistry: %w", name, endless(err))
	}
	p.number++
	return prefix.item(p.number, p.base+fmt.Sprint(name)+":"), nil
}

// item makes the prefix.
func (b bioregistryPrefix) item(number int64, name string) *item {
	i := newItem(number, name)
	i.entry.Key = registry.Prefix(name)
	for _, format := range append([]struct {
		URIFormat string `json:"uri_format"`
	}{{b.URIFormat}}, b.Providers...) {
		if strings.Contains(format.URIFormat, "$1") {
			i.to(registry.Target{URI: template(format.URIFormat)})
		}
	}
	switch err := registry.CheckPattern(b.Pattern); {
	case err != nil:
		i.lose("of what follows it: %v", err)
	case b.Pattern != "":
		i.entry.Pattern = b.Pattern
		i.said.add(fieldPattern)
	}
	i.describe("title", b.Name)
	i.describe("homepage", b.Homepage)
	return i
}

// template returns the target of a prefix for a format of URIs: what comes before "$1" if that is at the
// end, else a template.
func template(format string) string {
	before, after, _ := strings.Cut(format, "$1")
	literal := strings.NewReplacer("{", "%7B", "}", "%7D")
	if before = literal.Replace(before); after == "" {
		return before
	}
	return before + "{+suffix}" + literal.Replace(strings.ReplaceAll(after, "$1", "")) // the second one is rare
}
