package promise

import (
	"fmt"
	"go/ast"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// gatherLinks returns the relation types of links in Link header fields (RFC 8288), linksets (RFC 9264), pages,
// and string literals of the source.
func gatherLinks(t *testing.T, p *program) (lines []string) {
	field := regexp.MustCompile(`rel="([^"]*)"`)
	add := func(place, relations string) {
		for _, relation := range strings.Fields(relations) {
			lines = append(lines, place+" "+relation)
		}
	}
	for _, r := range p.requests {
		for _, m := range field.FindAllStringSubmatch(strings.Join(r.header.Values("Link"), ", "), -1) {
			add("field", m[1])
		}
		mediaType, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
		switch mediaType {
		case "text/html":
			page := testserver.ParseHTML(r.response)
			for _, name := range []string{"link", "a"} {
				for _, e := range page.All(name, "rel") {
					add("page "+name, e.Attr("rel"))
				}
			}
		case "application/linkset", "application/link-format":
			for _, m := range field.FindAllStringSubmatch(r.response, -1) {
				add("linkset", m[1])
			}
		case "application/linkset+json":
			var document struct{ Linkset []object }
			decode(t, r.response, &document)
			for _, context := range document.Linkset {
				for relation, targets := range context {
					if _, ok := targets.([]any); ok {
						add("linkset", relation)
					}
				}
			}
		}
	}
	return append(lines, p.linksOfSource()...)
}

// linksOfSource returns the relation types in string literals of the source.
func (p *program) linksOfSource() (lines []string) {
	field := regexp.MustCompile(`\brel="([\w:/.#-]+)"`)
	p.source.inspect(func(p *sourcePackage, n ast.Node) {
		if e, ok := n.(*ast.BasicLit); ok {
			text, _ := p.text(e)
			for _, m := range field.FindAllStringSubmatch(text, -1) {
				lines = append(lines, "source "+m[1])
			}
		}
	})
	return lines
}

// isShown reports whether the values of a field are promises, too.
func isShown(name string) bool {
	return slices.Contains([]string{
		"Accept-Patch", "Accept-Ranges", "Allow", "Content-Security-Policy", "Permissions-Policy", "Referrer-Policy",
		"Retry-After", "Vary", "Proxy-Authenticate", "Www-Authenticate", "X-Content-Type-Options", "X-Frame-Options",
	}, name) || strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "Cross-Origin-")
}

// gatherFields returns the names of the header fields that urnd sends in responses to clients and in requests
// to origins and webhooks, and those in the source.
func gatherFields(_ *testing.T, p *program) (lines []string) {
	hash := regexp.MustCompile(`'sha(256|384|512)-[^']*'`) // hash of the style of a page, which is not a promise
	for _, r := range p.requests {
		for name, values := range r.header {
			line := r.at + " response " + name
			if isShown(name) {
				line += ": " + hash.ReplaceAllString(strings.Join(values, ", "), "'sha$1-…'")
			}
			lines = append(lines, line)
		}
	}
	for _, name := range p.origin.names() {
		lines = append(lines, "origin request "+name)
	}
	p.source.inspect(func(p *sourcePackage, n ast.Node) {
		for _, name := range p.fieldNames(n) {
			lines = append(lines, "source "+http.CanonicalHeaderKey(name))
		}
	})
	return lines
}

// fieldNames returns the names of header fields that a node reads, sets or removes: header.Set("Name", ...),
// header["Name"], http.Header{"Name": ...}, httpmessage.NewFields("Name", ...), httpmessage.Field{Name: "Name"},
// AppendField(dst, "Name", ...).
func (p *sourcePackage) fieldNames(n ast.Node) (names []string) {
	add := func(e ast.Expr) {
		name, ok := p.text(e)
		if ok && regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`).MatchString(name) {
			names = append(names, name)
		}
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		switch name := nameOf(n.Fun); {
		case name == "NewFields":
			for i := 0; i < len(n.Args); i += 2 { // alternating names and values
				add(n.Args[i])
			}
		case name == "AppendField" && len(n.Args) > 1:
			add(n.Args[1])
		}
		method, ok := n.Fun.(*ast.SelectorExpr)
		if ok && len(n.Args) > 1 && slices.Contains([]string{"Set", "Add"}, method.Sel.Name) && isHeader(method.X) {
			add(n.Args[0])
		}
	case *ast.IndexExpr:
		if isHeader(n.X) {
			add(n.Index)
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			field, ok := e.(*ast.KeyValueExpr)
			switch {
			case !ok:
			case nameOf(n.Type) == "Header":
				add(field.Key)
			case isField(n.Type) && nameOf(field.Key) == "Name":
				add(field.Value)
			}
		}
	}
	return names
}

// isField reports whether a type is httpmessage.Field.
func isField(e ast.Expr) bool {
	selector, ok := e.(*ast.SelectorExpr)
	return ok && nameOf(selector.X) == "httpmessage" && selector.Sel.Name == "Field"
}

// isHeader reports whether an expression is a header according to its name: header, w.Header(), r.Header,
// trailer.
func isHeader(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		e = call.Fun
	}
	name := strings.ToLower(nameOf(e))
	return strings.HasSuffix(name, "header") || strings.HasSuffix(name, "trailer") || strings.HasSuffix(name, "fields")
}

// gatherRoutes returns the status and media type of the responses to all requests, and the paths in the source
// and in the OpenAPI document of the admin interface.
func gatherRoutes(t *testing.T, p *program) (lines []string) {
	boundary := regexp.MustCompile(`boundary="?[\w]+"?`)
	for _, r := range p.requests {
		line := fmt.Sprintf("%s %s %s", r.at, r.method, r.target)
		for _, field := range r.fields {
			line += fmt.Sprintf(" [%s]", field)
		}
		if r.body != "" {
			line += " " + r.body
		}
		mediaType := boundary.ReplaceAllString(r.header.Get("Content-Type"), "boundary=…")
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s => %d %s", line, r.status, mediaType)))
	}
	path := regexp.MustCompile(`^/(\.?[a-z][a-z0-9-]+)([/.][a-zA-Z0-9{}._-]*)*\b[/}]?$`)
	p.source.inspect(func(p *sourcePackage, n ast.Node) {
		e, ok := n.(*ast.BasicLit)
		if !ok || !strings.HasPrefix(p.folder, "proxy") {
			return
		}
		if text, _ := p.text(e); path.MatchString(text) {
			lines = append(lines, "path "+text)
		}
	})
	var document object // the only list of paths of the admin API
	decode(t, p.responseTo(t, "admin", "GET /openapi.json"), &document)
	for text := range child(document, "paths") {
		lines = append(lines, "path "+text)
	}
	return lines
}
