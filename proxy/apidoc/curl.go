package apidoc

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/urnd/urnd/proxy/pages"
)

// Placeholders in contents, which At fills in. No text of a document has them, which a test checks.
const (
	baseMark = "{BASE}" // of the URL of the server
	langMark = "?x-lang"
)

// At returns the content of a page for who knows the server by a URL without a slash at its end, "" where that is not known, and whose links to
// other pages end with a query, "" for none.
func At(content pages.Content, base, query string) pages.Content {
	if base == "" {
		base = "https://HOST"
	}
	fill := strings.NewReplacer(baseMark, string(pages.Escaped(base)), langMark, string(pages.Escaped(query)))
	return pages.Content(fill.Replace(string(content)))
}

// MaxContent is how many octets the content of a page may have, so that the page has at most 30 KB.
const MaxContent = 20_000

// curl returns the command that asks for an operation, "" for one that is no GET. Parameters that are required have examples.
func curl(method, path string, o *operation, isOpen bool) string {
	if method != "get" {
		return ""
	}
	var query []string
	for i := range o.Parameters {
		p := &o.Parameters[i]
		value := exampleOf(p)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case p.In == "query" && (p.Required || p.Name == "uri"):
			query = append(query, p.Name+"="+url.QueryEscape(value))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	command := "curl "
	if !isOpen {
		command += "-H 'Authorization: Bearer TOKEN' "
	}
	return command + "'" + baseMark + strings.ReplaceAll(path, "'", "%27") + "'"
}

// exampleOf returns a value that a parameter may have.
func exampleOf(p *parameter) string {
	const name = "urn:ietf:rfc:2648"
	s := &p.Schema
	switch {
	case s.Default != nil:
		return fmt.Sprint(s.Default)
	case len(s.Enum) > 0:
		return fmt.Sprint(s.Enum[0])
	}
	switch p.Name {
	case "uri":
		return name
	case "nid":
		return "ietf"
	case "datetime":
		return "20310501100000"
	case "handle":
		return "20.500.12345/a1"
	case "page", "id":
		return "1"
	default:
		return strings.ToUpper(p.Name)
	}
}
