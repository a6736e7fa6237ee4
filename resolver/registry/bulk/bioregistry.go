package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// bioregistry turns the registry.json of the Bioregistry (https://bioregistry.io) into NDJSON: each of
// its prefixes that has a format of URIs becomes a prefix of the registry. The line numbers count all of
// its prefixes.
type bioregistry struct {
	r       io.Reader
	base    string // what the prefixes begin with: "" makes CURIEs, as "chebi:24867"
	decoder *json.Decoder
	rest    []byte
}

// bioregistryPrefix is what is read of one of its prefixes.
type bioregistryPrefix struct {
	Name      string `json:"name"`
	Homepage  string `json:"homepage"`
	URIFormat string `json:"uri_format"` // with $1, which stands for the rest
	Providers []struct {
		URIFormat string `json:"uri_format"`
	} `json:"providers"`
}

// Read implements io.Reader.
func (p *bioregistry) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *bioregistry) next() error {
	if p.decoder == nil {
		p.decoder = json.NewDecoder(p.r)
		if t, err := p.decoder.Token(); err != nil || t != json.Delim('{') {
			return errors.Join(errors.New("the input is not the registry.json of the Bioregistry"), err)
		}
	}
	if !p.decoder.More() {
		if _, err := p.decoder.Token(); err != nil {
			return fmt.Errorf("reading the registry of the Bioregistry: %w", err)
		}
		return io.EOF
	}
	name, err := p.decoder.Token()
	if err != nil {
		return fmt.Errorf("reading the registry of the Bioregistry: %w", err)
	}
	var prefix bioregistryPrefix
	if err := p.decoder.Decode(&prefix); err != nil {
		return fmt.Errorf("reading %v in the registry of the Bioregistry: %w", name, err)
	}
	p.rest, err = prefix.line(p.base + fmt.Sprint(name) + ":")
	return err
}

// line returns the line of NDJSON.
func (b bioregistryPrefix) line(name string) ([]byte, error) {
	document := struct {
		Name     string            `json:"name"`
		Prefix   bool              `json:"prefix"`
		Targets  []string          `json:"targets"`
		Metadata map[string]string `json:"metadata,omitempty"`
	}{name, true, []string{}, map[string]string{}}
	for _, format := range append([]struct {
		URIFormat string `json:"uri_format"`
	}{{b.URIFormat}}, b.Providers...) {
		if strings.Contains(format.URIFormat, "$1") {
			document.Targets = append(document.Targets, template(format.URIFormat))
		}
	}
	if len(document.Targets) == 0 {
		return []byte{'\n'}, nil
	}
	for member, text := range map[string]string{"title": b.Name, "homepage": b.Homepage} {
		if text != "" {
			document.Metadata[member] = text
		}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", name, err)
	}
	return append(text, '\n'), nil
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
