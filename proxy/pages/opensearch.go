package pages

import (
	"encoding/xml"
	"fmt"
	"html/template"
)

// PathOpenSearch is the path of the description by which browsers search with this server, and OpenSearchType its media type.
const (
	PathOpenSearch = "/opensearch.xml"
	OpenSearchType = "application/opensearchdescription+xml"
)

// openSearch is a description document: OpenSearch 1.1 draft 6, section 4.2.
type openSearch struct {
	XMLName     xml.Name `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	ShortName   string   `xml:"ShortName"`
	Description string   `xml:"Description"`
	Encoding    string   `xml:"InputEncoding"`
	URL         struct {
		Type     string `xml:"type,attr"`
		Template string `xml:"template,attr"`
	} `xml:"Url"`
}

// OpenSearch returns the description of the server at a base, an absolute URL without a slash at its end, in the language of the site.
func (d *Design) OpenSearch(base string) ([]byte, error) {
	// Section 4.2: no more characters. Browsers leave out what has more.
	const mostName, mostDescription = 16, 1024
	w := d.In(d.site.Language)
	welcome := d.site.Texts[d.site.Language].Welcome
	if welcome == "" {
		welcome = w.Text("home.welcome")
	}
	document := openSearch{ShortName: cut(w.name(), mostName), Description: cut(welcome, mostDescription), Encoding: "UTF-8"}
	document.URL.Type, document.URL.Template = Type, base+"/?uri={searchTerms}"
	text, err := xml.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("OpenSearch: %w", err)
	}
	return append([]byte(xml.Header), text...), nil
}

// cut returns the first characters of a text.
func cut(s string, most int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), most)])
}

// search returns the attributes of the link to the description: see OpenSearch section 4.6.1.
func (w Writer) search() template.HTMLAttr {
	title := template.HTMLEscapeString(w.name())
	return template.HTMLAttr(`type="` + OpenSearchType + `" title="` + title + `" ` + string(w.href(PathOpenSearch))) //nolint:gosec // escaped
}
