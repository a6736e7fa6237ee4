package formats_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/piprate/json-gold/ld"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/answer/represent/representtest"
)

// graphContext contains the rules of the schema.org context for the terms used here: texts are IRIs unless a
// term defines otherwise, and dates have a type.
const graphContext = `{"@context": {"type": "@type", "id": "@id", "@vocab": "http://schema.org/", "schema": "http://schema.org/",
	"Date": {"@id": "schema:Date"}, "url": {"@id": "schema:url", "@type": "@id"}, "sameAs": {"@id": "schema:sameAs", "@type": "@id"},
	"contentUrl": {"@id": "schema:contentUrl", "@type": "@id"}, "license": {"@id": "schema:license", "@type": "@id"},
	"datePublished": {"@id": "schema:datePublished", "@type": "Date"}}}`

type graphLoader struct{}

func (graphLoader) LoadDocument(u string) (*ld.RemoteDocument, error) {
	if u != "https://schema.org" {
		return nil, fmt.Errorf("no context is loaded but that of schema.org: %s", u)
	}
	var document any
	err := json.Unmarshal([]byte(graphContext), &document)
	return &ld.RemoteDocument{DocumentURL: u, Document: document}, err
}

// forms contains the quads of a work from both formats.
type forms struct{ linked, turtle string }

// triples returns the quads from both formats.
func triples(w represent.Work) (f forms, err error) {
	text := represent.JSONLD(w)
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return f, fmt.Errorf("%w in %s", err, text)
	}
	options := ld.NewJsonLdOptions("")
	options.DocumentLoader, options.Format = graphLoader{}, "application/n-quads"
	linked, err := ld.NewJsonLdProcessor().ToRDF(document, options)
	if err != nil {
		return f, fmt.Errorf("%w in %s", err, text)
	}
	f.linked, _ = linked.(string)
	text = represent.Turtle(w)
	if f.turtle, err = readTurtle(string(text)); err != nil {
		return f, fmt.Errorf("%w in %s", err, text)
	}
	return f, nil
}

// canonical returns the canonical N-Quads. It takes very long if many nodes have nothing that distinguishes
// them.
func canonical(quads string) (string, error) {
	options := ld.NewJsonLdOptions("")
	options.Algorithm, options.Format, options.InputFormat = ld.AlgorithmURDNA2015, "application/n-quads",
		"application/n-quads"
	normal, err := ld.NewJsonLdProcessor().Normalize(quads, options)
	if err != nil {
		return "", err
	}
	return normal.(string), nil
}

var blankLabel = regexp.MustCompile(`(^|[> ])_:[a-z0-9]+ `)

// alike compares quads, ignoring which blank nodes they describe. json-gold omits triples with an IRI that its
// regular expression does not accept as a URL, such as https://a.exam1le/: those are only in Turtle.
func alike(f forms) error {
	var sorted [2][]string
	for i, quads := range []string{f.linked, f.turtle} {
		for line := range strings.Lines(quads) {
			sorted[i] = append(sorted[i], blankLabel.ReplaceAllString(line, "${1}_: "))
		}
		slices.Sort(sorted[i])
		sorted[i] = slices.Compact(sorted[i])
	}
	differ := fmt.Errorf("JSON-LD has\n%s\nTurtle has\n%s", sorted[0], sorted[1])
	for _, quad := range sorted[0] {
		if !slices.Contains(sorted[1], quad) {
			return differ
		}
	}
	for _, quad := range sorted[1] {
		if !slices.Contains(sorted[0], quad) && !ld.InvalidNode(ld.NewIRI(iriOf(quad))) {
			return differ
		}
	}
	return nil
}

// iriOf returns the first IRI of a quad that json-gold omits, or else the last one.
func iriOf(quad string) (iri string) {
	for _, match := range regexp.MustCompile(`<([^>]*)>`).FindAllStringSubmatch(quad, -1) {
		if iri = match[1]; ld.InvalidNode(ld.NewIRI(iri)) {
			return iri
		}
	}
	return iri
}

// sameTriples returns the triples of a work, or the difference of its two formats.
func sameTriples(w represent.Work) (string, error) {
	f, err := triples(w)
	if err != nil {
		return "", err
	}
	linked, err := canonical(f.linked)
	if err != nil {
		return "", err
	}
	turtle, err := canonical(f.turtle)
	if err != nil {
		return "", err
	}
	if linked != turtle {
		return "", fmt.Errorf("JSON-LD has\n%s\nTurtle has\n%s", linked, turtle)
	}
	return linked, nil
}

// TestGraph checks that JSON-LD and Turtle have the same triples, with terms defined in their vocabularies.
func TestGraph(t *testing.T) {
	const url, own = "<https://resolver.example.org/urn:nbn:fi-fe1>", "<" + represent.Vocabulary
	for name, tt := range map[string]struct {
		work     represent.Work
		has, not []string
	}{
		"all": {representtest.Full(), []string{
			url + " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Book> .",
			url + ` <http://schema.org/name> "Kalevala" .`,
			url + " <http://schema.org/url> " + url + " .",
			url + " <http://schema.org/sameAs> <urn:nbn:fi-fe1> .",
			url + " <http://schema.org/sameAs> <doi:10.5072/x1> .",
			url + ` <http://schema.org/datePublished> "1849-05-02"^^<http://schema.org/Date> .`,
			url + " <http://schema.org/license> <https://creativecommons.org/publicdomain/mark/1.0/> .",
			url + " <http://schema.org/creator> <https://orcid.org/0000-0002-1825-0097> .",
			`<https://orcid.org/0000-0002-1825-0097> <http://schema.org/name> "Lönnrot, Elias" .`,
			`<http://schema.org/value> "urn:nbn:fi-fe1" .`,
			url + " " + own + `status> "active" .`,
			url + " " + own + `since> "2026-11-26T12:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .`,
			"<http://www.w3.org/ns/dcat#accessURL> <https://a.example/1.pdf> .",
			"<http://www.w3.org/ns/dcat#mediaType> <https://www.iana.org/assignments/media-types/application/pdf> .",
			`<http://schema.org/encodingFormat> "application/pdf" .`,
		}, []string{"creativeWorkStatus"}},
		"withdrawn": {representtest.Gone(), []string{
			`<https://r.example/ark:12345/x1> <http://schema.org/creativeWorkStatus> "Withdrawn" .`,
			own + `reason> "a new edition" .`,
			"<http://purl.org/dc/terms/isReplacedBy> <ark:12345/x2> .",
			`<http://schema.org/name> "all rights reserved" .`,
		}, []string{"a.example", "dcat#"}},
		"nothing": {
			represent.Work{},
			[]string{"<http://schema.org/Thing>", own + `status> "unknown"`},
			[]string{"schema.org/url", "_:c14n1"},
		},
		"a name": {
			represent.Work{Name: "urn:isbn:1"},
			[]string{"<urn:isbn:1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Thing>"},
			nil,
		},
		"a type that is not known": {
			represent.Work{Name: "urn:x1:a", Metadata: represent.Metadata{Type: "Scroll"}},
			[]string{"<http://schema.org/CreativeWork>", `<http://schema.org/genre> "Scroll"`},
			nil,
		},
	} {
		triples, err := sameTriples(tt.work)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, one := range tt.has {
			if !strings.Contains(triples, one) {
				t.Errorf("%s: %s is not in\n%s", name, one, triples)
			}
		}
		for _, one := range tt.not {
			if strings.Contains(triples, one) {
				t.Errorf("%s: %s is in\n%s", name, one, triples)
			}
		}
	}
}

// TestHostileGraph checks that no text of a work ends the script element that contains JSON-LD, or a literal of
// Turtle.
func TestHostileGraph(t *testing.T) {
	for _, text := range []string{
		`</script><script>alert(1)</script>`, "<!--", "&amp;", "\u2028\u2029", `"""`, `\`, `\u0041`, "a\x00b\x1bc",
		"\" . <urn:a> <urn:b> <urn:c> . \"",
		"https://a.example/> <urn:b> <urn:c> . <", "https://a.example/\\u003e", "urn:x1:a b", "javascript:alert(1)",
		"\xff\xfe", "\u202eb\u2066",
	} {
		w := representtest.Hostile(text)
		if _, err := sameTriples(w); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if linked := string(represent.JSONLD(w)); strings.ContainsAny(linked, "<>&\u2028\u2029\x00\x1b\u202e") {
			t.Errorf("%q: %s", text, linked)
		}
	}
}

// FuzzGraph checks that any metadata has the same triples in both formats. Other tests check that all formats
// are well-formed.
func FuzzGraph(f *testing.F) {
	for _, text := range []string{
		`{"title":"A\r\nER  - ","creators":[{"name":"B and C","orcid":"0000-0002-1825-0097"}],"issued":"1849-05-02","license":"https://a.example/"}`,
		`{"title":"\\{}%&#_~^$\u2028</script>","keywords":["\"","\\"],"description":"a\u0000b","type":"Dataset/x","language":"fi"}`,
		`{"erc.who":"A, B","erc.what":"%0A","when":"1849"}`, "{}", "[", `{"license":"https://a.exam1le/"}`,
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, metadata, text string) {
		w := representtest.Hostile(text)
		w.Metadata = represent.ParseMetadata(metadata)
		support := represent.ParseSupport(metadata, *w.Support)
		w.Support = &support
		for _, w := range []represent.Work{
			w, representtest.Hostile(text),
			{Name: "urn:x1:a", URL: "https://r.example/urn:x1:a", Metadata: w.Metadata},
		} {
			f, err := triples(w)
			if err == nil {
				err = alike(f)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
}
